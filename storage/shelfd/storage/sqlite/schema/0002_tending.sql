-- What tending leaves behind. Times are microseconds since 1970 UTC.

-- The ledger of scheduled work: a job's slot is claimed once. "result" is JSON, NULL when empty.
CREATE TABLE run (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id      TEXT    NOT NULL,
    job         TEXT    NOT NULL,
    slot        TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    planned_at  INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    finished_at INTEGER,
    status      TEXT    NOT NULL,
    attempts    INTEGER NOT NULL,
    error       TEXT,
    result      TEXT,
    UNIQUE (job, slot)
);

-- How far reflection has come in a nugget: positions in the order (updated_at, row).
CREATE TABLE tended (
    nugget     TEXT PRIMARY KEY,
    changed_at INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    again_at   INTEGER NOT NULL,
    again      INTEGER NOT NULL,
    served_at  INTEGER NOT NULL
) WITHOUT ROWID;

-- The lines promotion wrote, in their order in the file.
CREATE TABLE promoted (
    path        TEXT    NOT NULL,
    position    INTEGER NOT NULL,
    note_id     TEXT    NOT NULL,
    section     TEXT    NOT NULL,
    line        TEXT    NOT NULL,
    promoted_at INTEGER NOT NULL,
    PRIMARY KEY (path, position)
) WITHOUT ROWID;

-- Only what may be promoted: most recalls change a row that has fewer hits.
CREATE INDEX usage_hits ON usage (hits) WHERE hits >= 3;
