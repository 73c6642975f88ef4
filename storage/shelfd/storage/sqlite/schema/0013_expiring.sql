-- Notes that will expire, and those that have and of which nobody was told yet. Most notes never do and write nothing.
CREATE TABLE expiring (
    expires_at INTEGER NOT NULL,
    note       INTEGER NOT NULL,
    PRIMARY KEY (expires_at, note)
) WITHOUT ROWID;
INSERT INTO expiring SELECT expires_at, row FROM note WHERE expires_at IS NOT NULL;
