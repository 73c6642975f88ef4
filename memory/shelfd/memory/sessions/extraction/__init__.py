"""Turns of a conversation in, operations on its typed notes out."""
