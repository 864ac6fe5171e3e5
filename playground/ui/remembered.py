"""The form after a reload: as it was in this tab of the browser, which is who remembers it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr

from playground.config import SettingsError
from playground.presets import Preset, list_presets, load_preset, own_names
from playground.ui import form
from playground.ui.quiet import QUIET

# A browser that keeps nothing, for it may not or has no room, has a form that starts anew.
_KEEP = """(...values) => {
  const base = document.querySelector("#form .based")?.dataset.base;
  try { sessionStorage.setItem("form", JSON.stringify([base, ...values])); } catch { return []; }
  return [];
}"""
_RECALL = """() => {
  try { return sessionStorage.getItem("form") ?? ""; } catch { return ""; }
}"""
_LONGEST = 10_000  # characters of a field


def wire(
    app: gr.Blocks,
    based: gr.HTML,
    base: gr.State,
    fields: Mapping[str, Any],
    home: Path,
    heading: Callable[[Preset], str],
) -> None:
    """Keeps the form on every change of it, and fills it when the page is opened.

    Args:
        based: names the preset that the form started from, in ``data-base``; ``heading`` draws it.
    """
    quiet = {"queue": False, **QUIET}
    widgets = list(fields.values())
    gr.on([w.change for w in (based, *widgets)], None, widgets, None, js=_KEEP, **quiet)

    def on_recall(kept: str) -> list[Any]:
        found = recalled(kept, home)
        if found is None:
            return [gr.skip()] * (2 + len(widgets))
        preset, values = found
        return [heading(preset), preset.name, *(gr.update(value=v) for v in values)]

    kept = gr.Textbox("", visible="hidden", label="", elem_id="kept-form")
    app.load(on_recall, kept, [based, base, *widgets], js=_RECALL, **quiet)


def recalled(kept: str, home: Path) -> tuple[Preset, Sequence[Any]] | None:
    """The preset and the values of the fields; None where nothing was kept that is a form."""
    try:
        name, *values = json.loads(kept or "[]")
    except (ValueError, TypeError, RecursionError):  # no JSON, an empty list, no list, or a well
        return None
    # A name alone, never a path: what a browser kept may be anything.
    if not isinstance(name, str) or name not in {
        *(preset.name for preset in list_presets()),
        *own_names(home),
    }:
        return None
    if len(values) != len(form.KEYS) or not all(map(_is_a_value, form.KEYS, values)):
        return None
    try:
        return load_preset(name, home=home), values
    except SettingsError:  # one's own, and damaged since
        return None


def _is_a_value(key: str, value: Any) -> bool:
    if key == "precisions":
        return isinstance(value, list) and all(isinstance(name, str) for name in value)
    return value is None or isinstance(value, bool) or _is_short(value)


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST
