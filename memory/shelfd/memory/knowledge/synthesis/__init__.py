"""Answers made of notes: with a language model or without one, each claim with the note that says it."""
