"""Knowledge: what notes are about, beside their words."""
