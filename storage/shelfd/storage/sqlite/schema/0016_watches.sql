-- Standing queries.
CREATE TABLE watch (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    principal  TEXT    NOT NULL,
    query      TEXT    NOT NULL,
    nugget     TEXT,
    filters    TEXT    NOT NULL,
    min_score  REAL,
    created_at INTEGER NOT NULL,
    since_seq  INTEGER NOT NULL
);
CREATE INDEX watch_of ON watch (principal, number);
