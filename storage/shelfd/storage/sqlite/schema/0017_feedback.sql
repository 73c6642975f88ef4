-- What callers said of results. Of the query there is no text: "terms" are hashes of its terms, ascending.
CREATE TABLE feedback (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    terms  TEXT    NOT NULL,
    note   INTEGER NOT NULL,
    useful INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    UNIQUE (terms, note)
);
CREATE INDEX feedback_note ON feedback (note);
