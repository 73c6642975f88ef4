-- Conversations: who works on which nugget, what their prompts held, and what of them was taken back.
-- Times are microseconds since 1970 UTC, structured values JSON text, NULL when empty.

-- The nugget's number of the turn in which the link was first made.
ALTER TABLE link ADD COLUMN seq_to INTEGER;

-- Which alternative of its turn made a change; NULL is the first.
ALTER TABLE change ADD COLUMN variant INTEGER;

-- 1: text of this nugget never leaves for a language model or an embedder elsewhere.
ALTER TABLE nugget ADD COLUMN local_only INTEGER NOT NULL DEFAULT 0;

-- Only what is part of a conversation, or represented by a rollup: an ordinary note writes neither.
CREATE INDEX change_turn ON change (session_id, turn, seq) WHERE turn IS NOT NULL;
CREATE INDEX note_parent ON note (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE session (
    session_id   TEXT PRIMARY KEY,
    nugget       TEXT    NOT NULL,
    actor        TEXT,
    at_seq       INTEGER,
    opened_at    INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    closed_at    INTEGER
) WITHOUT ROWID;
CREATE INDEX session_nugget ON session (nugget);

-- Types of notes beside the built-in ones; those of the nugget '' hold for the whole shelf.
CREATE TABLE note_type (
    nugget TEXT NOT NULL,
    name   TEXT NOT NULL,
    spec   TEXT NOT NULL,
    PRIMARY KEY (nugget, name)
) WITHOUT ROWID;

-- Alternatives of a turn, once there is more than one. "run_id" is the run that put it away.
CREATE TABLE variant (
    session_id TEXT    NOT NULL,
    turn       INTEGER NOT NULL,
    variant    INTEGER NOT NULL,
    is_live    INTEGER NOT NULL,
    run_id     TEXT,
    PRIMARY KEY (session_id, turn, variant)
) WITHOUT ROWID;

-- Which rows of the log were taken back: of these turns, of this variant if it says one, from the first of them up to
-- a change. "done_seq" is the last change of the run that did it. One that "revives" another gave that back, which then
-- says by which run it was "undone_by".
CREATE TABLE retraction (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT    NOT NULL,
    from_turn  INTEGER NOT NULL,
    until_turn INTEGER,
    variant    INTEGER,
    since_seq  INTEGER NOT NULL,
    up_to_seq  INTEGER NOT NULL,
    done_seq   INTEGER NOT NULL,
    run_id     TEXT    NOT NULL,
    revives    INTEGER,
    undone_by  TEXT
);
CREATE INDEX retraction_done ON retraction (done_seq);
CREATE INDEX retraction_run ON retraction (run_id);
CREATE INDEX retraction_turn ON retraction (session_id, from_turn, until_turn);

-- Notes that a branch made of others, by id.
CREATE TABLE copy (
    original TEXT NOT NULL,
    id       TEXT NOT NULL,
    PRIMARY KEY (original, id)
) WITHOUT ROWID;

-- What was handed to a prompt: arrays of note ids, NULL for one that was not reported, and rendered text, which a purge of any of the notes removes.
CREATE TABLE injection (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT    NOT NULL,
    turn       INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    pinned     TEXT,
    recalled   TEXT    NOT NULL,
    frontier   TEXT,
    blocks     TEXT,
    tokens     INTEGER,
    trace      TEXT
);
CREATE INDEX injection_session ON injection (session_id);
CREATE INDEX injection_turn ON injection (session_id, turn);
