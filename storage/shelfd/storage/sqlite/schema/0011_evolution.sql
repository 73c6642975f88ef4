-- What notes state, derived from them: "said" as JSON, "slots" where it is found, as a JSON array. Nothing of this is
-- in the log.
CREATE TABLE statement (
    note  INTEGER PRIMARY KEY,
    rev   INTEGER NOT NULL,
    slots TEXT    NOT NULL,
    said  TEXT    NOT NULL
);

CREATE TABLE slot (
    slot INTEGER NOT NULL,
    note INTEGER NOT NULL,
    PRIMARY KEY (slot, note)
) WITHOUT ROWID;

CREATE INDEX alias_name ON alias (alias);

-- Pairs of notes that cannot both be true: "a" is the older one's row, "b" the newer one's. Times are microseconds
-- since 1970 UTC.
CREATE TABLE conflict (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    nugget      TEXT    NOT NULL,
    a           INTEGER NOT NULL,
    b           INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    found_at    INTEGER NOT NULL,
    resolved_at INTEGER,
    resolution  TEXT
);
CREATE INDEX conflict_state ON conflict (resolved_at IS NULL, number);
CREATE INDEX conflict_nugget ON conflict (nugget, resolved_at IS NULL, number);
CREATE INDEX conflict_a ON conflict (a);
CREATE INDEX conflict_b ON conflict (b);
