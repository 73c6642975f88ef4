-- Durable work of several transactions. "params", "cursor" and "result" are JSON: ids, names and counts, no memory text.
CREATE TABLE job (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    kind       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    method     TEXT    NOT NULL,
    request_id TEXT,
    run_id     TEXT    NOT NULL,
    params     TEXT    NOT NULL,
    cursor     TEXT    NOT NULL,
    attempts   INTEGER NOT NULL,
    error      TEXT,
    result     TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE INDEX job_unfinished ON job (number) WHERE state IN ('queued', 'running', 'waiting');

-- The lines promotion is about to write, put down before the file changes: a crash may come on either side of that.
CREATE TABLE promoting (
    path        TEXT    NOT NULL,
    position    INTEGER NOT NULL,
    note_id     TEXT    NOT NULL,
    section     TEXT    NOT NULL,
    line        TEXT    NOT NULL,
    promoted_at INTEGER NOT NULL,
    PRIMARY KEY (path, position)
) WITHOUT ROWID;

-- What the log keeps of a note's links, without a walk through all of it for each note that is purged.
CREATE INDEX change_link_source ON change (json_extract(ids, '$[0]'), seq) WHERE kind IN ('link.added', 'link.removed');
CREATE INDEX change_link_target ON change (json_extract(ids, '$[1]'), seq) WHERE kind IN ('link.added', 'link.removed');
