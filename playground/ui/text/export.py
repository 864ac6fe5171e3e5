"""Sentences of the section that exports a finished run."""

from __future__ import annotations

from playground import language

TITLE = "Take it away: adapter or merged model"
INTRO = (
    "What is written is loaded again and asked held-out rows. It is offered only if it says what "
    "the run's own model says. A model card comes with it: settings, precision and losses, and no "
    "rows of the data."
)
NOTHING_YET = "No run of this comparison has finished yet, so there is nothing to take away."
ARM = "Run"
KIND = "What"
KINDS = {
    "adapter": "Adapter, in peft's format",
    "merged-bf16": "Whole model, merged in BF16",
    "merged-fp16": "Whole model, merged in FP16",
}
MAKE = "Build and check"
PICK_ONE = "Pick a run first."
SEED = "{label}, seed {seed}"
DOING = "{doing}…"
DONE = "Verified, and ready below."
READY = "Ready to download"
READY_LINE = "{arm}: {kind}"
DOWNLOAD = "Download ({size} MiB)"
VERIFIED = "verified, logits differ by at most {largest}"
VERIFIED_EXACT = "verified, the same logits to the last bit"
UNPACKED = "in the run's folder; build it again to have it in one file"

language.words(__name__)
