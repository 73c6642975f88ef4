-- What was asked lately: recall's params as JSON, ids of the notes returned as a JSON array, microseconds since 1970 UTC.
CREATE TABLE recent_query (
    params TEXT    PRIMARY KEY,
    ids    TEXT    NOT NULL,
    at     INTEGER NOT NULL
);
CREATE INDEX recent_query_at ON recent_query (at, params);
