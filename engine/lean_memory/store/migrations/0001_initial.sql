-- The first schema. Times are epoch milliseconds; `end` and `valid_to` are exclusive; NULL ends are open.

-- namespace (the exact name), salt (of the tombstones), next_moment (nothing is recorded before it); cleared and unpurged while they are so.
CREATE TABLE setting (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;

CREATE TABLE episode (
    id          INTEGER PRIMARY KEY,
    uid         TEXT    NOT NULL UNIQUE,
    text        TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    client      TEXT,
    t_ref       INTEGER NOT NULL,
    tz          TEXT    NOT NULL,
    recorded_at INTEGER NOT NULL,
    state       TEXT    NOT NULL
);
CREATE INDEX episode_unfinished ON episode (id) WHERE state <> 'done';

CREATE TABLE passage (
    id         INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL REFERENCES episode (id),
    span_start INTEGER NOT NULL,
    span_end   INTEGER NOT NULL,
    row_id     INTEGER NOT NULL
);
CREATE INDEX passage_episode ON passage (episode_id, span_start);

CREATE TABLE entity (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    name_key TEXT NOT NULL,
    type     TEXT NOT NULL,
    UNIQUE (name_key, type)
);

CREATE TABLE entity_alias (
    alias_id  INTEGER PRIMARY KEY REFERENCES entity (id),
    entity_id INTEGER NOT NULL REFERENCES entity (id)
);

-- The row holds the newest version of the fact; earlier versions are in fact_version.
-- asserted_at and asserted_until are what the statement itself said; valid_at and valid_to are what the whole timeline makes of it.
CREATE TABLE fact (
    id             INTEGER PRIMARY KEY,
    uid            TEXT    NOT NULL UNIQUE,
    subject_id     INTEGER NOT NULL REFERENCES entity (id),
    predicate      TEXT    NOT NULL,
    object         TEXT    NOT NULL,
    object_key     TEXT    NOT NULL,
    object_id      INTEGER REFERENCES entity (id),
    fact_text      TEXT    NOT NULL,
    polarity       TEXT    NOT NULL,
    modality       TEXT    NOT NULL,
    record_kind    TEXT    NOT NULL,
    functional     INTEGER NOT NULL,
    additive       INTEGER NOT NULL,
    asserted_at    INTEGER NOT NULL,
    asserted_until INTEGER,
    valid_at       INTEGER NOT NULL,
    valid_to       INTEGER,
    recorded_at    INTEGER NOT NULL,
    retired_at     INTEGER,
    version_at     INTEGER NOT NULL,
    is_latest      INTEGER NOT NULL,
    struck         INTEGER NOT NULL,
    superseded_by  INTEGER REFERENCES fact (id),
    end_reason     TEXT,
    confidence     REAL    NOT NULL,
    salience       REAL    NOT NULL,
    is_inference   INTEGER NOT NULL,
    trust          TEXT    NOT NULL,
    tier           TEXT    NOT NULL,
    episode_id     INTEGER NOT NULL REFERENCES episode (id),
    span_start     INTEGER NOT NULL,
    span_end       INTEGER NOT NULL,
    found_by       TEXT    NOT NULL,
    rule           TEXT    NOT NULL,
    reasons        TEXT    NOT NULL,
    row_id         INTEGER NOT NULL
);
CREATE INDEX fact_slot ON fact (subject_id, predicate, object_key);
CREATE INDEX fact_slot_end ON fact (subject_id, predicate, valid_to);
CREATE INDEX fact_episode ON fact (episode_id, span_start);
CREATE INDEX fact_successor ON fact (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX fact_object ON fact (object_id) WHERE object_id IS NOT NULL;

-- How a fact stood from recorded_at up to, not including, retired_at; closed_at is what fact.retired_at was then.
CREATE TABLE fact_version (
    fact_id       INTEGER NOT NULL REFERENCES fact (id),
    recorded_at   INTEGER NOT NULL,
    retired_at    INTEGER NOT NULL,
    valid_at      INTEGER NOT NULL,
    valid_to      INTEGER,
    is_latest     INTEGER NOT NULL,
    struck        INTEGER NOT NULL,
    superseded_by INTEGER,
    end_reason    TEXT,
    tier          TEXT NOT NULL,
    closed_at     INTEGER,
    PRIMARY KEY (fact_id, recorded_at)
) WITHOUT ROWID;

-- What was said about a slot beside the statements that are facts themselves: confirmations and retractions.
CREATE TABLE evidence (
    id          INTEGER PRIMARY KEY,
    subject_id  INTEGER NOT NULL REFERENCES entity (id),
    predicate   TEXT    NOT NULL,
    object      TEXT    NOT NULL,
    object_key  TEXT    NOT NULL,
    act         TEXT    NOT NULL,
    polarity    TEXT    NOT NULL,
    modality    TEXT    NOT NULL,
    trust       TEXT    NOT NULL,
    additive    INTEGER NOT NULL,
    valid_at    INTEGER NOT NULL,
    valid_to    INTEGER,
    recorded_at INTEGER NOT NULL,
    fact_id     INTEGER REFERENCES fact (id),
    fact_text   TEXT    NOT NULL,
    episode_id  INTEGER NOT NULL REFERENCES episode (id),
    span_start  INTEGER NOT NULL,
    span_end    INTEGER NOT NULL
);
CREATE INDEX evidence_slot ON evidence (subject_id, predicate, act, valid_at);
CREATE INDEX evidence_value ON evidence (subject_id, predicate, object_key, valid_at);
CREATE INDEX evidence_fact ON evidence (fact_id);
CREATE INDEX evidence_episode ON evidence (episode_id, span_start);

-- Which fact a piece of evidence belonged to, up to, not including, retired_at, where it was given to another since.
CREATE TABLE evidence_link (
    evidence_id INTEGER NOT NULL REFERENCES evidence (id) ON DELETE CASCADE,
    retired_at  INTEGER NOT NULL,
    fact_id     INTEGER NOT NULL REFERENCES fact (id) ON DELETE CASCADE,
    PRIMARY KEY (evidence_id, retired_at)
) WITHOUT ROWID;
CREATE INDEX evidence_link_fact ON evidence_link (fact_id);
CREATE INDEX evidence_link_end ON evidence_link (retired_at);

-- A salted hash of each sentence the person had erased, so that it is not learned again.
CREATE TABLE tombstone (digest BLOB PRIMARY KEY, forgotten_at INTEGER NOT NULL) WITHOUT ROWID;

-- Tallies of what was served; read by maintenance only, never by ranking.
CREATE TABLE access (fact_id INTEGER PRIMARY KEY, served INTEGER NOT NULL, last_at INTEGER NOT NULL);

-- Which facts a derived fact (a summary) was made from.
CREATE TABLE derivation (
    fact_id   INTEGER NOT NULL REFERENCES fact (id),
    source_id INTEGER NOT NULL REFERENCES fact (id),
    PRIMARY KEY (fact_id, source_id)
) WITHOUT ROWID;

CREATE TABLE run (
    id           INTEGER PRIMARY KEY,
    uid          TEXT    NOT NULL UNIQUE,
    holder       TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    ended_at     INTEGER,
    state        TEXT    NOT NULL,
    report       TEXT
);
CREATE UNIQUE INDEX run_lease ON run ((1)) WHERE state = 'running';

CREATE TABLE proposal (
    id         INTEGER PRIMARY KEY,
    uid        TEXT    NOT NULL UNIQUE,
    run_id     INTEGER REFERENCES run (id),
    kind       TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    evidence   TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    decision   TEXT
);
CREATE INDEX proposal_pending ON proposal (created_at) WHERE state = 'pending';

CREATE TABLE journal (
    id     INTEGER PRIMARY KEY,
    run_id INTEGER REFERENCES run (id),
    at     INTEGER NOT NULL,
    verb   TEXT    NOT NULL,
    target TEXT    NOT NULL,
    before TEXT,
    after  TEXT
);
CREATE INDEX journal_run ON journal (run_id);

-- The search index: one row for a passage, a fact, or a fact that is its whole passage. `tokens` is its length in words, `asks` the
-- share of it, of 255, that stands in questions.
CREATE TABLE index_row (
    id          INTEGER PRIMARY KEY,
    fact_id     INTEGER,
    passage_id  INTEGER,
    valid_at    INTEGER NOT NULL,
    valid_to    INTEGER,
    recorded_at INTEGER NOT NULL,
    tokens      INTEGER NOT NULL,
    asks        INTEGER NOT NULL DEFAULT 0,
    flags       INTEGER NOT NULL
);

-- The words of each row. Contentless, and without contentless_delete: a deletion is given the words again, so that secure-delete
-- can take them out of the segments at once.
CREATE VIRTUAL TABLE index_text USING fts5 (
    body, content = '', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
);
INSERT INTO index_text (index_text, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE index_vocabulary USING fts5vocab (index_text, row);
CREATE VIRTUAL TABLE index_posting USING fts5vocab (index_text, instance);

-- The visibility of 1,024 rows, packed, beside index_row, so that a million rows come into memory at once.
CREATE TABLE index_block (id INTEGER PRIMARY KEY, rows BLOB NOT NULL);

-- When each block last changed, per layer (0 for index_block, else the number of a model), so that a reader takes over just what is new.
CREATE TABLE index_change (
    layer  INTEGER NOT NULL,
    block  INTEGER NOT NULL,
    change INTEGER NOT NULL,
    PRIMARY KEY (layer, block)
) WITHOUT ROWID;
CREATE UNIQUE INDEX index_change_order ON index_change (layer, change);

CREATE TABLE embedding_model (
    id          INTEGER PRIMARY KEY,
    model_id    TEXT    NOT NULL,
    revision    TEXT    NOT NULL,
    dims        INTEGER NOT NULL,
    coarse_dims INTEGER NOT NULL,
    UNIQUE (model_id, revision, dims, coarse_dims)
);
-- Each model has two tables (id INTEGER PRIMARY KEY, rows BLOB), made when it first writes: embedding_<id> with float32 vectors, 8 in
-- a blob, and code_<id> with sign codes, 1,024 in a blob.
