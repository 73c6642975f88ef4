"""Entities: who, where, what and when a note mentions, and the names that mean the same."""
