"""What the outside has to provide, the records that pass to and from it, and what they promise."""
