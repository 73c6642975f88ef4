-- What notes say of two entities, by their numbers: derived as these are, by rules or by a model, of which neither
-- knows of the other. "text" tells in which text of the note a model read it; it is 0 for what rules read. When it
-- holds, and whether it still does, the note says itself.
CREATE TABLE edge (
    source     INTEGER NOT NULL,
    note       INTEGER NOT NULL,
    target     INTEGER NOT NULL,
    relation   TEXT    NOT NULL,
    edge_type  TEXT    NOT NULL,
    confidence REAL    NOT NULL,
    engine     TEXT    NOT NULL,
    text       INTEGER NOT NULL,
    PRIMARY KEY (source, note, target, relation, engine)
) WITHOUT ROWID;
CREATE INDEX edge_target ON edge (target, note, source, relation, engine, edge_type, confidence);
CREATE INDEX edge_note ON edge (note);

-- Links by which one note says that it caused another.
CREATE INDEX link_cause ON link (target, row)
    WHERE relation IN ('causes', 'caused', 'leads_to', 'led_to', 'results_in', 'enables', 'triggers');
