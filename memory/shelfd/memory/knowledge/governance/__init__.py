"""What text may come in: credentials, personal data, and text that gives orders to its reader."""
