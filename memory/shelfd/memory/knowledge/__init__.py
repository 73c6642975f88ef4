"""What is known from what notes say: statements, and what a new one does to older ones."""
