"""Conversations: typed notes, their graph and rollups, what prompts held, and taking turns back."""
