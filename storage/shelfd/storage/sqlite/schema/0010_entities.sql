-- What notes mention. Derived from them after each commit: "position" says how far. Nothing of this is in the log.
CREATE TABLE entity (
    number INTEGER PRIMARY KEY,
    type   TEXT NOT NULL,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    UNIQUE (type, key)
);

CREATE TABLE mention (
    entity INTEGER NOT NULL,
    weight INTEGER NOT NULL,
    note   INTEGER NOT NULL,
    PRIMARY KEY (entity, weight, note)
) WITHOUT ROWID;
CREATE INDEX mention_note ON mention (note);

-- How many there are, without a walk through all of them.
CREATE TABLE entity_count (
    type     TEXT PRIMARY KEY,
    entities INTEGER NOT NULL,
    mentions INTEGER NOT NULL
) WITHOUT ROWID;

-- Names that mean the same: said by a note, or by a caller ("note" is 0). An empty "canonical" takes back a built-in one.
CREATE TABLE alias (
    family         TEXT    NOT NULL,
    alias          TEXT    NOT NULL,
    note           INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    canonical      TEXT    NOT NULL,
    canonical_name TEXT    NOT NULL,
    type           TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (family, alias, note)
) WITHOUT ROWID;
CREATE INDEX alias_note ON alias (note) WHERE note > 0;

-- How far the log was read for entities, as JSON.
CREATE TABLE enrichment (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    position TEXT NOT NULL
);
