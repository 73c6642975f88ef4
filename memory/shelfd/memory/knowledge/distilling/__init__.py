"""What a text says that is worth keeping, as single statements, and what each of them does to what is known."""
