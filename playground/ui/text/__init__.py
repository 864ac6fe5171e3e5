"""Every sentence on the page, in one place: plain words for someone new to fine-tuning.

Those of Compare and of the page as a whole are here; each other page has a module of its own.
"""

from __future__ import annotations

from playground import language

TITLE = "FP4 Playground"
TAGLINE = "What does 4-bit training cost, and what does it buy? Train it twice and see."
EMULATED_HERE = "Loss curves are real all the same; speed here says nothing about a GPU."
DECODED_HERE = "{native} run natively; 4-bit numbers are decoded or emulated, as each run says."
FP4_HERE = "{native} run natively; 4-bit products do once a self-test has passed, as each run says."

COMPARE_TAB = "Compare"

# Setting a comparison up.
FORM_HEADING = "Or set up your own"
BASED_ON = "Based on the preset {name}: what you do not change stays as it says."
MODEL = "Model"
MODEL_INFO = "From the list, a local folder, or a Hugging Face id"
DATASET = "Dataset"
DATASET_INFO = "From the list, a local file or folder, or a Hugging Face id"
PREVIEW = "Preview what is learned"
PREVIEW_WAITING = "Reading the rows and turning them into tokens; this takes some seconds…"
PREVIEW_OF = "Preview of {dataset} as {model} reads it"
PREVIEW_TOKENS = "Tokens:"
PREVIEW_LENGTHS = "Rows by their length in tokens"
PREVIEW_BIN = "{from}–{to} tokens: {rows:,} rows"
PREVIEW_LIMIT = "limit {limit:,}"
PRECISION = "Precision"
PRECISIONS = "Precisions"
PRECISIONS_INFO = "One run each, one after another; everything else is the same to the letter."
SEEDS = "Seeds"
SEEDS_INFO = "Runs of each; 3 tell noise"
RUN_TITLE = "Name"
RUN_TITLE_INFO = "For you to find it again. Empty takes the preset's."
ADVANCED = "Advanced settings"
START = "Start comparison"
STOP = "Stop"
SET_UP_AGAIN = "Set up the same again"
SET_UP_FROM = "The form holds the settings of “{title}”; change what you like."
STOPPING = "Stopping…"
PAUSE = "Pause"
PAUSING = "Pausing…"
RESUME = "Resume"
NO_PRECISION = (
    "Precisions is empty; there is nothing to run without one; tick at least one, "
    "and two or more for a comparison."
)
STARTED_AGAIN = "The same comparison is already running or waiting, so it was not started twice."
QUEUED_BEHIND = "It waits for {titles} to end: one comparison runs at a time."
AND = " and "
COMMA = ", "
CLAUSES = ", "
SEMICOLON = "; "
QUOTED = "“{words}”"
BETWEEN = " "  # of two sentences
WAIT_FOR_THIS = "{count} more waiting: one comparison runs at a time."
QUEUE = "What runs and what waits"
SHOWN_HERE = "shown here"

# Watching it.
EMPTY_TITLE = "Nothing has run yet"
EMPTY_TEXT = (
    "Press Start on a preset. Loss, throughput and memory of each precision are drawn here as the "
    "steps happen, and a verdict follows at the end."
)
DELETED_GROUP = "Comparison “{group}” was deleted; open History and pick another."
UNKNOWN_GROUP = "No comparison is called “{group}”; open History and pick one."
OTHER_LIVE = "Another comparison is running: {title}."
OTHER_LIVE_LINK = "Show it"
PERMALINK = "Link to this comparison"
SET_UP_ANOTHER = "Set up another"
STEPS_OF_EACH = "{steps} steps of each"
STATUS_WORDS = {
    "queued": "waiting",
    "running": "running",
    "finished": "finished",
    "stopped": "stopped",
    "paused": "paused",
    "failed": "failed",
    "diverged": "diverged",
    "interrupted": "interrupted",
}
WAITING_FOR_TURN = "waits for its turn"
STARTING = "starting"
WAITING_TO_GO_ON = "waits to go on"
STOP_ASKED = "stopping after this step"
PAUSE_ASKED = "pausing after this step"
STEP_OF = "step {step} of {total}"
ETA = "about {time} left of its steps"
ETA_ALL = "About {time} of steps left in all {count} runs; loading and evaluation come on top."
DURATION = {
    "s": "{s} s",
    "min": "{min} min",
    "min s": "{min} min {s} s",
    "h": "{h} h",
    "h min": "{h} h {min} min",
}
FINISHED_IN = "took {time}"
FINISHED_AGAIN_IN = "took {time} since it was resumed"
FINISHED_OF = "{done} of {count} finished"
SEED_DOES = "seed {seed}: {doing}"
AFTER_STEP = "after step {step}"
BEFORE_STEPS = "before its first step"
OF_SEEDS = ", seed {seeds}"
CAN_RESUME = "Resume goes on from its last checkpoint, with the same settings."
REST_GOES_ON = "The other runs go on."
ENDED_AFTER = "after {time}"
ENDED_WHILE = "after {time}, while {stage}"
ARMS_HEADING = "Progress of each precision"

HOW_WORDS = {
    "native": "native",
    "weight-only": "weight-only",
    "emulated": "emulated",
}
HOW_EXPLAINED = {
    "native": "The hardware multiplies numbers of this format itself.",
    "weight-only": "W4A16: weights are stored in 4 bits and decoded; products are 16-bit.",
    "emulated": "Numbers are rounded to the format bit for bit; products are done in fp32. "
    "Loss is real, speed and peak memory are not claims.",
}

CHARTS = {
    "how": HOW_WORDS,
    "x": "step",
    "missing": "not measured",
    "no_points": "no points",
    "legend": "Precisions shown",
    "toggle": "Show or hide this precision",
    "axis": "What runs along the charts",
    "axes": {"step": "steps", "tokens": "tokens", "time": "seconds", "energy": "joules"},
    "axis_notes": {  # where all ran for real, and where one was emulated
        "time": [
            "seconds of training steps alone",
            "seconds of emulated steps: not a speed claim",
        ],
        "energy": [
            "joules of training steps alone",
            "joules of emulated steps: not a claim",
        ],
    },
    "smoothing": "Smoothing",
    "smooth_none": "none",
    "smooth_over": "over about {count} steps",
    "key_average": "average over about {count} steps",
    "averaged": "average {value}",
    "at_step": "step {step}",
    "peak": "peak so far {value}",
    "values": "Values as a table",
    "values_newest": "Newest values; a crosshair in a chart shows those of its step.",
    "log": "Log scale",
    "reset": "Reset zoom",
    "key_line": "training, each step",
    "key_mean": "training, mean of the repetitions",
    "key_repeat": "each repetition",
    "key_point": "held out, now and then",
    "held_out": "{label} held out",
    "hint": "Drag across a chart to zoom in: the loss axis then starts where the curves do. "
    "Double-click to see everything again.",
    "keys": "Arrow keys read values, plus and minus zoom, Escape shows everything.",
    "marks": {
        "not finite": "not a finite number",
        "skipped update": "update skipped (overflow)",
        "ended": "ended early",
        "out of memory": "out of memory",
        "healed": "healed",
        "resumed": "resumed",
    },
}
NO_METER = "Not measured: energy is asked of an NVIDIA GPU's driver, and these ran on a CPU."
NO_ENERGY = "Not measured: no run of these has read an energy meter."
MARK_HEALED = "healed: {label} from here on"
MARK_RESUMED = "resumed: the first step of its new process"
CAUSE_WORDS = {
    "out of memory": "out of memory",
    "not finite": "loss not finite",
    "refused": "refused",
    "killed": "killed from outside",
    "crashed": "crashed",
    "lost": "process lost",
}
REPEATED = "{label} × {count}"
SEED_OF = "{label}, seed {seed}"
RUN_OF = "{label}, seed {seed}, of “{title}”"
# Title, unit, and what stands in an empty chart: while there may be something to come, and after.
PANELS = {
    "loss": ("Loss", "nats per token", "No loss yet", "No loss was measured"),
    "tokens_per_s": (
        "Throughput",
        "tokens/s",
        "No throughput yet",
        "No throughput was measured",
    ),
    "memory_mib": (
        "Memory between steps",
        "MiB",
        "No memory reading yet",
        "No memory was measured",
    ),
}
EMULATED_NOTE = "emulated: not a speed claim"
EMULATED_MEMORY_NOTE = "emulated"
EVAL_POINT = "{label}: held-out loss {loss} at step {step} ({when})"
EVAL_MEAN = ", mean of {count}, {low} to {high}"
WHEN_WORDS = {"before": "before training", "during": "during training", "after": "after training"}

# What came out.
VERDICT = "Verdict"
VERDICT_REST = "All that was found"
TILE_BAND = ". 95 %: {low} to {high}, over {over}"
OVER_SEEDS = "{count} seeds"
OVER_ROWS = "the held-out rows of one seed"
TILE_LOSS = "Held-out loss"
TILE_SPEED = "Speed"
TILE_MEMORY = "Peak memory"
TILE_WEIGHTS = "Frozen weights"
TILE_MINUS = "{candidate} minus {baseline}, nats"
TILE_OVER = "{candidate} over {baseline}"
TILE_BITS = "each in {candidate}, counted from tensors"
TILE_BITS_VALUE = "{bits} bits"
NO_FINAL_LOSSES = "no two final losses"
NOT_COMPARED = "not compared"
RAN_EMULATED = "ran emulated"
NOT_MEASURED = "not measured"
EM_DASH = "–"

DETAILS = "Details and proof of fairness"
COVERAGE = "What was converted, layer by layer"
LOG = "Log"
LOG_EMPTY = "Nothing yet: what a run says and prints is shown here."
LOG_STARTED = "started at {time}"
LOG_HELD_OUT = "held-out loss {loss} {when}, after step {step}"
LOG_EXACT = "{said}; {share} of {count} answers right to the letter"
LOG_STEPS = "step {step} of {total}, loss {loss}"
LOG_ENDED = "{state}: {why}"
LOG_PRINTED = "{label} printed at last:"
COMMAND = "The same in a terminal"
COMMAND_INFO = "Run it from the project's folder."

ROWS = {
    "requested": "Precision asked for",
    "effective": "Precision it ran in",
    "how": "How it ran",
    "eval": "Held-out loss",
    "exact": "Exact answers",
    "train": "Training loss",
    "throughput": "Tokens per second",
    "step_ms": "Step time",
    "weights": "Weights at rest",
    "bits": "Bits per converted weight",
    "adapters": "Adapter",
    "optimizer": "Optimizer state",
    "peak": "Peak memory",
    "energy": "Energy of its steps",
    "reserved": "Peak reserved memory",
    "parameters": "Trained parameters",
    "converted": "Linear layers converted",
    "rows": "Rows",
    "skipped": "Skipped updates",
    "batches": "Batches (hash)",
    "adapter": "Adapter start (hash)",
}
ENERGY_A_TOKEN = "{joules} J a token; {source}"
EMULATED_FIGURE = "ran emulated: no claim"
MEDIAN_OF = "median of {count}, {warmup} warm-up steps left out"
CONVERTED_OF = "{converted} of {total}, {share} of their weights"
ROWS_USED = "{seen} trained on"
ROWS_THERE = "of {train} to train on; {eval} held out"
SAME_BATCHES = "same batches"
SAME_ADAPTER = "same adapter start"
ONLY_PRECISION = "only the precision differs"
FAIR_YES = "yes"
FAIR_NO = "no"
FAIR_UNKNOWN = "known when both have finished"
FAIR_NOT_RECORDED = "not known: not every run finished"
OTHER_DIFFERENCES = "differs: {names}"
SIDEWAYS = "Swipe the table sideways to see all {count} runs."
ONE_ARM = "one precision only"
COVERAGE_SOME = "{label}: {converted} Linear layers {formats}; kept as they were:"
COVERAGE_ALL = "{label}: all {converted} Linear layers {formats}; none was kept as it was."
COVERAGE_FORMATS = "have weights in {weights} and take activations in {activations}"
COVERAGE_UNKNOWN = "{label}: known once the model is loaded."
COVERAGE_NEVER = "{label}: not known, for it ended before its model was loaded."

MEASURED = "Memory by kind and rounding errors"
MEMORY_HEADING = "What fills the memory, in MiB"
MEMORY_KINDS = {
    "weights": "frozen weights",
    "adapters": "adapter",
    "optimizer": "optimizer",
    "gradients": "gradients",
    "activations": "activations",
}
MEMORY_PREDICTED = "Predicted before its first step: {mib} at the peak"
MEMORY_PREDICTED_OFF = (
    "Predicted before its first step: {mib} at the peak, measured {measured} ({off})"
)
MEMORY_PREDICTED_PART = "{kind} {mib} ({off})"
MEMORY_UNKNOWN = "Known once the first step was made."
ROUNDING_HEADING = "How far rounding is off, ‖rounded − exact‖ / ‖exact‖"
ROUNDING_UNKNOWN = (
    "Not looked at. Under Measuring, “Look at errors every” says after how many steps to look."
)
TENSOR_WORDS = {"weight": "Weight", "activation": "Activation", "gradient": "Gradient"}
ZEROED = "{share} became 0"
HEALED_TO = ", healed to {label}"
CROSSED = "Held-out loss of each finished adapter on other bases"
ADAPTER_OF = "{label}’s adapter"
ON_BASE = "on {label}"
MERGED_INTO = "merged into {label}"
TRAINED_ON = "as trained"

# App.py.
SERVING = "FP4 Playground is on {url}  (Ctrl-C ends it)"
RUNS_KEPT = "Runs are kept in {home}"
PORT_TAKEN = (
    "Port {port} on {host} is in use, so the page cannot be served there; "
    "end the other program or choose another: --port {other}"
)
HOST_UNKNOWN = "Host {host} is no address of this machine ({reason}); use 127.0.0.1 or 0.0.0.0."
PORT_FORBIDDEN = "Port {port} is not open to your user; choose one above 1023, such as 7860."
START_HELP = "start this preset at once, unless something runs already"
OPEN_HELP = "open the page in a browser, where there is a screen"
BAD_PORT = "Port is '{value}'; it must be a whole number from 1 to 65535."
ALREADY_LIVE = "“{title}” is already running, so nothing was started; the page shows it."
PRESET_STARTED = "Started “{title}”."
GOODBYE = "The page is closed."
STILL_RUNNING = (
    "“{title}” goes on without it. Open the page again to watch, or stop it with: {stop}"
)
WAITING_WILL_END = "What was still waiting in the queue does not start without the page."

language.words(__name__)
