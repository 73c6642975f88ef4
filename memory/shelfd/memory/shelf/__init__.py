"""One shelf at work: opened and closed, changed, followed by what is derived from it, and used by those who may."""
