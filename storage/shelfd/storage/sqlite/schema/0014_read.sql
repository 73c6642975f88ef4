-- What a language model found that a note mentions, as JSON, and in which of its texts: as long as the note has that
-- text it stands among the note's mentions, however often rules find them anew.
CREATE TABLE mention_read (
    note      INTEGER PRIMARY KEY,
    text      INTEGER NOT NULL,
    mentioned TEXT    NOT NULL
);
