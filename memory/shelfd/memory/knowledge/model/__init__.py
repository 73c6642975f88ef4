"""What a language model is asked about notes, and what becomes of its answers."""
