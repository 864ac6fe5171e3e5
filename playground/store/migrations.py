"""The database's shape, as numbered steps. A shipped step is never edited; the next one is added.

``PRAGMA user_version`` records how many steps a database has had. All missing steps are applied in
one transaction, so a crash or a second process leaves either the old shape or the new one.
A new setting in ``RunConfig`` needs a step too: it writes what old runs did into ``runs.config``.
"""

from __future__ import annotations

import re
import sqlite3

from playground.config import SettingsError

_RUNS = """
-- Times are Unix seconds. Charts read typed columns with the unit in the name; JSON is for details.
-- SQLite keeps NaN as NULL, so a NaN is stored as the text 'nan': still there, and not "missing".
CREATE TABLE clock (revision INTEGER NOT NULL);          -- counts every visible change
INSERT INTO clock VALUES (0);

CREATE TABLE groups (
    id TEXT PRIMARY KEY,
    preset TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at REAL NOT NULL,
    revision INTEGER NOT NULL                            -- the clock at this group's last change
);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    group_id TEXT NOT NULL REFERENCES groups (id),
    position INTEGER NOT NULL,                           -- order within the group, from 0
    config TEXT NOT NULL,                                -- RunConfig as JSON
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
    owner TEXT NOT NULL,                                 -- the process that starts and watches it
    pid INTEGER,                                         -- set while a worker process may exist
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
-- Text sorts after every number, so this one comparison finds inf and 'nan'.
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
"""

_WHOLE_EXPERIMENT = """
-- Settings that old runs did not have, with what they did without them.
UPDATE runs SET config = json_set(
    config,
    '$.data.split_seed', json_extract(config, '$.training.seed'),
    '$.data.packing', json('false'),
    '$.data.too_long', 'cut',
    '$.data.columns', NULL,
    '$.training.compile', 'off',
    '$.training.checkpoint_every', 0,
    '$.quantization', json('{"keep_last_blocks": 0, "keep_layers": "none",
        "weight_scale_rule": "search", "activation_scale_rule": "amax",
        "gradient_rounding": "stochastic", "fp8_gradients": "e5m2",
        "heal_after": 1.0, "heal_to": "bf16"}'),
    '$.measure', json('{"probe_every": 0, "target_loss": null,
        "cross_precisions": "none", "merge_check": false}')
);

ALTER TABLE runs ADD COLUMN cause TEXT;                  -- events.Cause
ALTER TABLE runs ADD COLUMN stop_kind TEXT;              -- 'stop' or 'pause', once asked
ALTER TABLE runs ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;  -- 1, and one more by each resuming
ALTER TABLE runs ADD COLUMN queued_at REAL NOT NULL DEFAULT 0;   -- created, or resumed: its turn
UPDATE runs SET queued_at = created_at;
DROP INDEX runs_alive;
CREATE INDEX runs_alive ON runs (queued_at, position)
    WHERE status IN ('queued', 'running') OR pid IS NOT NULL;

ALTER TABLE steps ADD COLUMN reserved_mib REAL;
ALTER TABLE steps ADD COLUMN power_w REAL;
ALTER TABLE steps ADD COLUMN energy_j REAL;

ALTER TABLE facts ADD COLUMN gradients_mib REAL;
ALTER TABLE facts ADD COLUMN activations_mib REAL;
ALTER TABLE facts ADD COLUMN peak_reserved_mib REAL;
ALTER TABLE facts ADD COLUMN energy_source TEXT;
ALTER TABLE facts ADD COLUMN healed_at_step INTEGER;
ALTER TABLE facts ADD COLUMN healed_to TEXT;
ALTER TABLE facts ADD COLUMN resumed_at_step INTEGER;
ALTER TABLE facts ADD COLUMN eval_sha256 TEXT;

CREATE TABLE eval_rows (
    run_id TEXT NOT NULL REFERENCES runs (id),
    step INTEGER NOT NULL,
    "when" TEXT NOT NULL,
    row INTEGER NOT NULL,                                -- place among the held-out rows, from 0
    loss REAL NOT NULL,                                  -- summed over its supervised tokens
    tokens INTEGER NOT NULL,
    PRIMARY KEY (run_id, step, "when", row)
) WITHOUT ROWID;

CREATE TABLE cross_evals (
    run_id TEXT NOT NULL REFERENCES runs (id),
    base TEXT NOT NULL,
    merged INTEGER NOT NULL,
    loss REAL NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (run_id, base, merged)
) WITHOUT ROWID;

CREATE TABLE layer_errors (
    run_id TEXT NOT NULL REFERENCES runs (id),
    step INTEGER NOT NULL,
    layer TEXT NOT NULL,
    tensor TEXT NOT NULL,
    relative_error REAL NOT NULL,
    zeroed_share REAL NOT NULL,
    PRIMARY KEY (run_id, step, layer, tensor)
) WITHOUT ROWID;
"""

_TRIED_AND_SHARED = """
ALTER TABLE groups ADD COLUMN note TEXT NOT NULL DEFAULT '';  -- what a person wrote about it

ALTER TABLE facts ADD COLUMN loading_peak_mib REAL;
ALTER TABLE facts ADD COLUMN predicted_weights_mib REAL;
ALTER TABLE facts ADD COLUMN predicted_adapters_mib REAL;
ALTER TABLE facts ADD COLUMN predicted_optimizer_mib REAL;
ALTER TABLE facts ADD COLUMN predicted_gradients_mib REAL;
ALTER TABLE facts ADD COLUMN predicted_activations_mib REAL;
ALTER TABLE facts ADD COLUMN predicted_peak_mib REAL;
ALTER TABLE facts ADD COLUMN template TEXT;               -- own, plain or none: see events.Facts

CREATE TABLE eval_answers (
    run_id TEXT NOT NULL REFERENCES runs (id),
    "when" TEXT NOT NULL,
    row INTEGER NOT NULL,                                -- place among the held-out rows, from 0
    prompt TEXT NOT NULL,
    reference TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (run_id, "when", row)
) WITHOUT ROWID;

-- Folders below the home whose comparison is deleted and which may still be there.
CREATE TABLE removals (folder TEXT PRIMARY KEY) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (_RUNS, _WHOLE_EXPERIMENT, _TRIED_AND_SHARED)


def migrate(db: sqlite3.Connection, steps: tuple[str, ...] = MIGRATIONS) -> None:
    """Brings a database, empty or old, to the newest shape; does nothing if it has it.

    Args:
        db: connection in autocommit mode (``isolation_level=None``).
    Raises:
        SettingsError: the database was written by a newer version of this program.
    """
    if _version(db) == len(steps):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        done = _version(db)  # again: another process may have migrated while we waited
        if done > len(steps):
            raise SettingsError(
                f"The run database has schema {done} and this program knows {len(steps)}; "
                "update the program, or choose another home folder."
            )
        for script in steps[done:]:
            for statement in _statements(script):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(steps)}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite itself gives up where the disk is full
            db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection) -> int:
    return db.execute("PRAGMA user_version").fetchone()[0]


def _statements(script: str) -> list[str]:
    # sqlite3's own executescript() would commit our transaction first.
    found, pending = [], ""
    for piece in re.split("(?<=;)", script):
        pending += piece
        if sqlite3.complete_statement(pending):  # not so inside a comment or a string
            found.append(pending)
            pending = ""
    assert not pending.strip(), f"unfinished statement: {pending}"
    return found
