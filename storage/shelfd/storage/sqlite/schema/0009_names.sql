-- Under which folded names visible notes are found by who writes about the same thing again: titles and aliases.
-- Facts have their key instead; a note without a title writes nothing here.
CREATE TABLE note_name (
    name   TEXT    NOT NULL,
    nugget TEXT    NOT NULL,
    type   TEXT    NOT NULL,
    note   INTEGER NOT NULL,
    PRIMARY KEY (name, nugget, type, note)
) WITHOUT ROWID;

INSERT OR IGNORE INTO note_name
SELECT fold_key(title), nugget, fold_key(type), row FROM note
WHERE title <> '' AND key IS NULL AND archived_at IS NULL AND superseded_by IS NULL
UNION
SELECT fold_key(alias.value), nugget, fold_key(note.type), row FROM note, json_each(note.extra, '$.aliases') AS alias
WHERE extra IS NOT NULL AND note.key IS NULL AND archived_at IS NULL AND superseded_by IS NULL;
DELETE FROM note_name WHERE name = '';

-- How many notes have a type that was made, without a walk through all of them: an ordinary note writes nothing here.
CREATE INDEX note_typed ON note (type, nugget)
    WHERE type NOT IN ('relationship', 'fact', 'note', 'preference', 'reflection', 'self_model', 'project', 'style');
