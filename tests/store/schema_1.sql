-- The first schema that was released, with a run in it. Never edited: it is what old homes hold.
CREATE TABLE clock (revision INTEGER NOT NULL);
INSERT INTO clock VALUES (0);
CREATE TABLE groups (
    id TEXT PRIMARY KEY,
    preset TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at REAL NOT NULL,
    revision INTEGER NOT NULL
);
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    group_id TEXT NOT NULL REFERENCES groups (id),
    position INTEGER NOT NULL,
    config TEXT NOT NULL,
    status TEXT NOT NULL,
    error TEXT,
    stage_name TEXT,
    stage_detail TEXT,
    stage_progress REAL,
    created_at REAL NOT NULL,
    started_at REAL,
    ended_at REAL,
    heartbeat_at REAL,
    stop_requested_at REAL,
    owner TEXT NOT NULL,
    pid INTEGER,
    process_started REAL
);
CREATE INDEX runs_by_group ON runs (group_id, position);
CREATE INDEX runs_alive ON runs (created_at, position)
    WHERE status IN ('queued', 'running') OR pid IS NOT NULL;
CREATE TABLE steps (
    run_id TEXT NOT NULL REFERENCES runs (id),
    step INTEGER NOT NULL,
    loss REAL NOT NULL,
    grad_norm REAL,
    learning_rate REAL NOT NULL,
    loss_scale REAL,
    skipped INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    padded_tokens INTEGER NOT NULL,
    supervised_tokens INTEGER NOT NULL,
    step_ms REAL NOT NULL,
    tokens_per_s REAL NOT NULL,
    warmup INTEGER NOT NULL,
    memory_mib REAL,
    peak_mib REAL,
    PRIMARY KEY (run_id, step)
) WITHOUT ROWID;
CREATE INDEX steps_to_mark ON steps (run_id, step) WHERE skipped OR loss > 1e308;
CREATE TABLE evals (
    run_id TEXT NOT NULL REFERENCES runs (id),
    step INTEGER NOT NULL,
    "when" TEXT NOT NULL,
    loss REAL NOT NULL,
    tokens INTEGER NOT NULL,
    exact_match REAL,
    exact_match_rows INTEGER NOT NULL,
    PRIMARY KEY (run_id, step, "when")
) WITHOUT ROWID;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (id),
    at REAL NOT NULL,
    level TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX messages_by_run ON messages (run_id, id);
CREATE TABLE facts (
    run_id TEXT PRIMARY KEY REFERENCES runs (id),
    effective TEXT,
    how TEXT,
    how_reason TEXT,
    device TEXT,
    environment TEXT,
    total_parameters INTEGER,
    trainable_parameters INTEGER,
    adapted_modules INTEGER,
    coverage TEXT,
    weights_mib REAL,
    converted_weights_mib REAL,
    bits_per_converted_weight REAL,
    adapters_mib REAL,
    optimizer_mib REAL,
    peak_mib REAL,
    memory_source TEXT,
    batches_sha256 TEXT,
    adapter_init_sha256 TEXT,
    rows TEXT,
    skipped_updates INTEGER
);
PRAGMA user_version = 1;
UPDATE clock SET revision = 9;
INSERT INTO groups VALUES ('g-20261201-120000-abcdef', 'quick', 'An old one', 1796126400.0, 9);
INSERT INTO runs VALUES (
    'r-20261201-120000-abcdef-1-fp16', 'g-20261201-120000-abcdef', 0,
    '{"model":"tiny","dataset":"steady","precision":"fp16","lora":{"lora_r":16,"lora_alpha":32.0,"lora_dropout":0.0,"target_modules":"all-linear"},"data":{"max_seq_len":128,"learn_from":"answers","train_rows":null,"eval_rows":128,"exact_match_rows":32},"training":{"max_steps":3,"micro_batch_size":16,"grad_accum_steps":1,"learning_rate":0.002,"schedule":"cosine","warmup_share":0.05,"weight_decay":0.0,"max_grad_norm":1.0,"gradient_checkpointing":false,"eval_every":0,"seed":42}}',
    'finished', NULL, 'training', '', NULL, 1796126400.0, 1796126401.0, 1796126410.0,
    1796126409.0, NULL, '4711:1796120000.0', NULL, NULL
);
INSERT INTO steps VALUES (
    'r-20261201-120000-abcdef-1-fp16', 1, 4.0, 1.0, 0.0002, 65536.0, 0, 480, 32, 200, 20.0, 24000.0,
    1, 20.0, 24.0
);
INSERT INTO steps VALUES (
    'r-20261201-120000-abcdef-1-fp16', 2, 'nan', NULL, 0.0001, NULL, 1, 480, 32, 200, 20.0, 24000.0,
    0, NULL, NULL
);
INSERT INTO evals VALUES ('r-20261201-120000-abcdef-1-fp16', 0, 'before', 4.5, 900, NULL, 0);
INSERT INTO messages VALUES (1, 'r-20261201-120000-abcdef-1-fp16', 1796126402.0, 'info', 'Hello.');
INSERT INTO facts (run_id, how, weights_mib, rows)
VALUES ('r-20261201-120000-abcdef-1-fp16', 'emulated', 1.5, '{"read": 100}');
