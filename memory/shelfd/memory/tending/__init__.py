"""What the shelf does by itself or takes back: reflection, promotion, undo, purge."""
