-- What a run changed, and which runs there were, without a walk through the whole log. Ordinary changes have no run.
CREATE INDEX change_run ON change (run_id, seq) WHERE run_id IS NOT NULL;
CREATE INDEX change_completed ON change (kind, seq)
    WHERE kind IN ('reflection.completed', 'reflection.undone', 'promotion.completed');
