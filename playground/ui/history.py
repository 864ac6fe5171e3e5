"""The History page: every earlier comparison, newest first. A click opens it on Compare."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import gradio as gr

from playground.compare import RunRecord, verdict
from playground.config import PRECISIONS, private
from playground.store import Group, Run, RunStore
from playground.ui import figures, text
from playground.ui.panels import badge, chip, overall, swatch

MOST = 100
"""Comparisons that are listed."""


def table(store: RunStore) -> str:
    """The list as HTML, or a sentence when there is nothing to list."""
    groups = store.list_groups(limit=MOST)
    if not groups:
        return f'<div class="empty"><p>{text.HISTORY_EMPTY}</p></div>'
    heads = "".join(f'<th scope="col">{name}</th>' for name in text.HISTORY_COLUMNS)
    rows = "".join(_row(store, group) for group in groups)
    capped = f"<p>{text.HISTORY_CAPPED.format(count=MOST)}</p>" if len(groups) == MOST else ""
    return (
        f'<table class="past"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{capped}'
    )


def _row(store: RunStore, group: Group) -> str:
    config = group.runs[0].config
    steps = text.STEPS_OF_EACH.format(steps=figures.count(config.training.max_steps))
    # An ordinary link: the keyboard, a new tab and a bookmark all work.
    link = f'<a href="?group={escape(group.id)}">{escape(group.title)}</a>'
    names = dict.fromkeys(run.precision for run in group.runs)
    arms = "".join(_arm([r for r in group.runs if r.precision == name]) for name in names)
    return (
        f'<tr><td class="when">{figures.moment(group.created_at)}</td>'
        f'<td>{link}<span class="id">{escape(group.preset)} · {escape(group.id)}</span></td>'
        f"<td>{escape(private(config.model))}<br>{escape(private(config.dataset))}<br>{escape(steps)}</td>"
        f'<td>{arms}</td><td class="delta">{_delta(store, group)}</td></tr>'
    )


def _arm(runs: Sequence[Run]) -> str:
    label = PRECISIONS[runs[0].precision].label
    times = f"<i>× {len(runs)}</i>" if len(runs) > 1 else ""
    how = next((run.facts.how for run in runs if run.facts.how), None)
    return (
        f'<span class="arm">{swatch(runs[0].precision)}<b>{label}</b>{times}'
        f"{chip(overall({run.status for run in runs}))}{badge(how)}</span>"
    )


def _delta(store: RunStore, group: Group) -> str:
    """The verdict's one number that needs no steps: reading thousands for a list would be slow."""
    if any(run.status != "finished" for run in group.runs):
        return text.EM_DASH
    records = [RunRecord.of(r, [], store.evals(r.id)) for r in group.runs]
    delta = verdict(records).loss_delta
    return f"{figures.signed(delta)} nats" if delta is not None else text.EM_DASH


def build(store: RunStore) -> gr.HTML:
    """Draws the page; call it inside ``gr.Blocks``. Fill the result with ``table``."""
    gr.HTML(
        f'<div class="past-intro"><h2>{text.HISTORY_HEADING}</h2><p>{text.HISTORY_INTRO}</p></div>',
        apply_default_css=False,
    )
    with gr.Column(elem_classes="sheet"):
        return gr.HTML("", elem_id="past", apply_default_css=False)
