"""How every event of the page is bound: nobody calls it by name, and nothing is told to wait."""

from __future__ import annotations

from typing import Any

QUIET: dict[str, Any] = {
    "api_visibility": "private",
    # What is computed is said in words, by the handler, where it takes long enough to be seen.
    "show_progress": "hidden",
    # Hidden, it would be told all the same to each output of each event, and Gradio's page copies
    # the values of a component and of all within it to tell it: half of what a browser does here.
    "show_progress_on": [],
}
"""What every listener takes, as in ``button.click(handler, inputs, outputs, **QUIET)``."""
