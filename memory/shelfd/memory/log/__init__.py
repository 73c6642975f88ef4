"""The change log: what writes it, and what is read from it: events, history, repeated requests, the logical hash."""
