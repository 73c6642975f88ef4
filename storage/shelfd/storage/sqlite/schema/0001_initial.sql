-- Rows are the truth of now; "change" is how they came about. Times are microseconds since 1970 UTC.
-- Structured values are JSON text, NULL when empty.

-- Numbers given away to rows that are no longer there. The numbers of the rows that are there follow from them, so
-- an ordinary change need not write this page. Who trims the log or deletes notes raises these in the same
-- transaction: row numbers of notes are never reused, and seq goes on where it was.
CREATE TABLE floor (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    last_seq INTEGER NOT NULL,
    last_row INTEGER NOT NULL,
    last_at  INTEGER NOT NULL
);
INSERT INTO floor VALUES (1, 0, 0, 0);

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- The long columns stand last: a filter on the others then never walks a note's overflow pages.
CREATE TABLE note (
    row           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    nugget        TEXT    NOT NULL,
    kind          TEXT    NOT NULL,
    key           TEXT,
    type          TEXT    NOT NULL,
    subject       TEXT    NOT NULL,
    scope         TEXT    NOT NULL,
    source        TEXT    NOT NULL,
    confidence    REAL    NOT NULL,
    stability     TEXT    NOT NULL,
    domain        TEXT    NOT NULL,
    tier          TEXT    NOT NULL,
    importance    INTEGER NOT NULL,
    author        TEXT,
    session_id    TEXT,
    turn          INTEGER,
    seq_to        INTEGER,
    occurred_at   INTEGER,
    valid_from    INTEGER,
    valid_to      INTEGER,
    expires_at    INTEGER,
    archived_at   INTEGER,
    superseded_by TEXT,
    parent_id     TEXT,
    pinned        INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    rev           INTEGER NOT NULL,
    tags          TEXT,
    title         TEXT    NOT NULL,
    extra         TEXT,
    content       TEXT    NOT NULL
);
CREATE UNIQUE INDEX note_fact ON note (key, nugget) WHERE key IS NOT NULL;
CREATE INDEX note_nugget ON note (nugget, updated_at);
CREATE INDEX note_updated ON note (updated_at);
CREATE INDEX note_superseded ON note (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX note_hidden ON note (nugget) WHERE archived_at IS NOT NULL;
CREATE INDEX note_visible_fact ON note (nugget) WHERE key IS NOT NULL AND archived_at IS NULL;

-- AUTOINCREMENT, because listings are paged by row: a new link must never take a place already passed.
CREATE TABLE link (
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    source     TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    relation   TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to   INTEGER,
    UNIQUE (source, target, relation)
);
CREATE INDEX link_target ON link (target);

CREATE TABLE nugget (
    name       TEXT PRIMARY KEY,
    dimension  INTEGER NOT NULL,
    banks      INTEGER NOT NULL,
    ensembles  INTEGER NOT NULL,
    max_facts  INTEGER NOT NULL,
    ttl_days   INTEGER,
    created_at INTEGER NOT NULL,
    turn_count INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE turn (
    nugget     TEXT    NOT NULL,
    session_id TEXT    NOT NULL,
    turn       INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    PRIMARY KEY (nugget, session_id, turn)
) WITHOUT ROWID;

-- The change log. "note" is a note's row, "before" what the change replaced.
CREATE TABLE change (
    seq        INTEGER PRIMARY KEY,
    tx         INTEGER NOT NULL,
    tx_size    INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    principal  TEXT    NOT NULL,
    method     TEXT    NOT NULL,
    request_id TEXT,
    session_id TEXT,
    turn       INTEGER,
    run_id     TEXT,
    kind       TEXT    NOT NULL,
    nugget     TEXT,
    note       INTEGER,
    ids        TEXT    NOT NULL,
    before     TEXT
);
CREATE INDEX change_note ON change (note, seq) WHERE note IS NOT NULL;

CREATE TABLE usage (
    note             INTEGER PRIMARY KEY,
    hits             INTEGER NOT NULL,
    access_count     INTEGER NOT NULL,
    last_accessed_at INTEGER NOT NULL,
    last_hit_session TEXT    NOT NULL
);

CREATE TABLE hit_session (
    note       INTEGER NOT NULL,
    session_id TEXT    NOT NULL,
    PRIMARY KEY (note, session_id)
) WITHOUT ROWID;

CREATE TABLE idempotency (
    principal TEXT    NOT NULL,
    method    TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    payload   TEXT    NOT NULL,
    outcome   TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (principal, method, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at);

-- How far each receiver of events has got.
CREATE TABLE sink (
    name          TEXT PRIMARY KEY,
    delivered_seq INTEGER NOT NULL
) WITHOUT ROWID;
