"""The record: the note, facts and their keys, links, nuggets, and the rules for their text."""
