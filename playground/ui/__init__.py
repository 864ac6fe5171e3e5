"""The page. Gradio lives here and in app.py, nowhere else; torch is never imported."""

import os

# Before gradio is imported: it would ask its makers' server for news, and we ask nobody.
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

from playground.ui.build import build_app, launch  # noqa: E402

__all__ = ["build_app", "launch"]
