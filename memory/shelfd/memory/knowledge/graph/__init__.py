"""What notes say of two entities: read by rules, walked, put in order of time, handed out."""
