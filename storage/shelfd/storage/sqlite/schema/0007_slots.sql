-- Runs of the scheduler are jobs that claim a slot. The runs there were become jobs, in the order of their beginning.
CREATE TABLE job_new (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    kind        TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    principal   TEXT    NOT NULL,
    method      TEXT    NOT NULL,
    request_id  TEXT,
    run_id      TEXT    NOT NULL,
    params      TEXT    NOT NULL,
    cursor      TEXT    NOT NULL,
    attempts    INTEGER NOT NULL,
    error       TEXT,
    result      TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    slot        TEXT,
    reason      TEXT,
    planned_at  INTEGER,
    started_at  INTEGER,
    finished_at INTEGER
);

-- A run that its daemon left is tried again by the scheduler; one that a caller asked for is not, as it was.
-- Of a run, "attempts" counted the one at work or well ended, too.
INSERT INTO job_new (
    id, kind, state, principal, method, request_id, run_id, params, cursor, attempts, error, result,
    created_at, updated_at, slot, reason, planned_at, started_at, finished_at
)
SELECT id, kind, state, principal, method, request_id, run_id, params, cursor, attempts, error, result,
       created_at, updated_at, slot, reason, planned_at, started_at, finished_at
FROM (
    SELECT number, id, kind, state, principal, method, request_id, run_id, params, cursor, attempts, error, result,
           created_at, updated_at,
           NULL AS slot, NULL AS reason, NULL AS planned_at, NULL AS started_at, NULL AS finished_at
    FROM job
    UNION ALL
    SELECT number,
           'job-' || CASE WHEN run_id LIKE 'run-%' THEN substr(run_id, 5) ELSE run_id END,
           job,
           CASE
               WHEN status = 'done' THEN 'done'
               WHEN status = 'missed' THEN 'failed'
               WHEN status = 'failed' OR reason = 'manual' OR attempts >= 3 THEN 'dead'
               ELSE 'waiting'
           END,
           'scheduler',
           CASE job WHEN 'reflection' THEN 'reflect' WHEN 'promotion' THEN 'promote' ELSE job END,
           NULL, run_id, '{}', '{}',
           CASE status WHEN 'done' THEN max(attempts - 1, 0) ELSE attempts END,
           CASE status
               WHEN 'missed' THEN 'Missed'
               WHEN 'interrupted' THEN 'Interrupted'
               WHEN 'running' THEN 'Interrupted'
               ELSE error
           END,
           result, started_at, coalesce(finished_at, started_at),
           slot, reason, planned_at, started_at, coalesce(finished_at, started_at)
    FROM run
)
ORDER BY created_at, number;

DROP TABLE job;
DROP TABLE run;
ALTER TABLE job_new RENAME TO job;
CREATE INDEX job_unfinished ON job (number) WHERE state IN ('queued', 'running', 'waiting');
CREATE UNIQUE INDEX job_slot ON job (kind, slot) WHERE slot IS NOT NULL;
CREATE INDEX job_in_slot ON job (number) WHERE slot IS NOT NULL;
CREATE INDEX job_without_slot ON job (number) WHERE slot IS NULL;

-- What a job was given, or has come to, piece by piece, as JSON. It may hold memory text, and goes when the job ends.
CREATE TABLE job_piece (
    job    TEXT    NOT NULL,
    number INTEGER NOT NULL,
    piece  TEXT    NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID;
