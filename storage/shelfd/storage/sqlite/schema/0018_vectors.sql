-- Vectors of notes: signed bytes, "width" to a vector. "text" is the CRC of the text that they were made of.
CREATE TABLE vector (
    note  INTEGER PRIMARY KEY,
    model TEXT    NOT NULL,
    text  INTEGER NOT NULL,
    width INTEGER NOT NULL,
    data  BLOB    NOT NULL
);

-- Counts are kept beside the rows: to count those takes as long as there are many.
CREATE TABLE vector_count (
    model TEXT PRIMARY KEY,
    notes INTEGER NOT NULL
) WITHOUT ROWID;

-- Up to where notes were given vectors, as JSON.
CREATE TABLE embedding (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    position TEXT NOT NULL
);
