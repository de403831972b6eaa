-- What maintenance keeps beside the first schema's run, proposal, journal, derivation and access.

-- Why a run was started, how far it is (0..1), whether it was asked to stop, and when it was taken back.
ALTER TABLE run ADD COLUMN cause TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN progress REAL;
ALTER TABLE run ADD COLUMN is_cancelled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN reverted_at INTEGER;

-- Whom a proposal is about, until when it may be decided; its evidence is JSON.
ALTER TABLE proposal ADD COLUMN entity TEXT NOT NULL DEFAULT '';
ALTER TABLE proposal ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX proposal_decided ON proposal (decided_at) WHERE decided_at IS NOT NULL;

-- The facts a proposal speaks of, in order, each with how it stood when it was proposed.
CREATE TABLE proposal_target (
    proposal_id INTEGER NOT NULL REFERENCES proposal (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    fact_id     INTEGER NOT NULL REFERENCES fact (id),
    stood       TEXT    NOT NULL,
    PRIMARY KEY (proposal_id, position)
) WITHOUT ROWID;
CREATE INDEX proposal_target_fact ON proposal_target (fact_id);

-- What was done belongs to a run or to a decision.
ALTER TABLE journal ADD COLUMN proposal_id INTEGER REFERENCES proposal (id) ON DELETE SET NULL;
CREATE INDEX journal_proposal ON journal (proposal_id) WHERE proposal_id IS NOT NULL;

-- Whether a source went cold because its summary says it.
ALTER TABLE derivation ADD COLUMN is_demoted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX derivation_source ON derivation (source_id);

-- What a person decided to keep as it is: `hot` is never demoted again, `apart` never merged again.
CREATE TABLE kept (
    fact_id INTEGER NOT NULL REFERENCES fact (id),
    how     TEXT    NOT NULL,
    PRIMARY KEY (fact_id, how)
) WITHOUT ROWID;

-- Facts that hold on as duplicates of another one.
CREATE INDEX fact_duplicate ON fact (subject_id, predicate) WHERE end_reason = 'duplicate';
-- What the strict band may look at, and what came since the last run.
CREATE INDEX fact_faint ON fact (salience, recorded_at) WHERE is_latest = 1 AND tier = 'hot' AND salience < 2;
CREATE INDEX fact_recorded ON fact (recorded_at);
