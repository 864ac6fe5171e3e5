"""The list of comparisons as HTML: a page of it, its heads to sort by, its runs to tick."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from playground.config import PRECISIONS, private
from playground.data.uploads import called
from playground.preview.words import printable
from playground.store import Group, Past, Run, Search
from playground.ui import figures, recorded, text
from playground.ui.history.asking import PAGE, Listing
from playground.ui.panels import badge, chip, overall, swatch
from playground.ui.text import history as words


def table(past: Past, listing: Listing) -> str:
    """The list as HTML, or a sentence when there is nothing to list."""
    gone = ",".join(listing.gone)
    bar = f'<div class="ticked" role="status" data-gone="{escape(gone)}"></div>'
    if not past.total:
        plain = Search(by=listing.search.by, descending=listing.search.descending)
        said = words.EMPTY if listing.search == plain else words.NOTHING_LIKE_IT
        return f'{bar}<div class="empty"><p>{said}</p></div>'
    heads = "".join(_head(key, name, listing.search) for key, name in words.COLUMNS.items())
    rows = "".join(_row(g, past.differences.get(g.id), listing.chosen) for g in past.groups)
    return (
        f'{bar}<div class="wide" tabindex="0">'
        f'<table class="past"><thead><tr>{heads}<td></td></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
        f"{_pager(past.total, listing.page)}"
    )


def _head(key: str, name: str, search: Search) -> str:
    here = key == search.by
    order = ("descending" if search.descending else "ascending") if here else "none"
    arrow = {"descending": "▾", "ascending": "▴", "none": ""}[order]
    said = escape(words.SORT_BY.format(column=name))
    return (
        f'<th scope="col" aria-sort="{order}"><button type="button" data-sort="{key}" '
        f'title="{said}">{name}<i aria-hidden="true">{arrow}</i></button></th>'
    )


def _row(group: Group, difference: float | None, chosen: str | None) -> str:
    config = group.runs[0].config
    steps = text.STEPS_OF_EACH.format(steps=figures.count(config.training.max_steps))
    # An ordinary link: the keyboard, a new tab and a bookmark all work.
    link = f'<a href="?group={escape(group.id)}">{escape(recorded.titled(group.title))}</a>'
    note = f'<span class="note">{escape(group.note)}</span>' if group.note else ""
    names = dict.fromkeys(run.precision for run in group.runs)
    arms = "".join(_arm(group, [r for r in group.runs if r.precision == n]) for n in names)
    manage = escape(words.MANAGE_ONE.format(title=recorded.titled(group.title)))
    here = ' aria-current="true"' if group.id == chosen else ""
    told, missing = text.EM_DASH, " is-none"
    if difference is not None:
        told, missing = words.DIFFERENCE.format(value=figures.signed(difference)), ""
    about = (
        escape(private(config.model)),
        escape(printable(called(config.dataset))),
        escape(steps),
    )
    about = "".join(f"<span>{part}</span>" for part in about)
    return (
        f'<tr{here}><td class="when">{figures.moment(group.created_at)}</td>'
        f'<td>{link}<span class="id">{escape(group.preset)} · {escape(group.id)}</span>{note}</td>'
        f'<td class="about">{about}</td><td>{arms}</td>'
        f'<td class="delta{missing}" data-named="{escape(words.COLUMNS["difference"])}">{told}</td>'
        f'<td class="manage"><button type="button" data-open="{escape(group.id)}" '
        f'aria-label="{manage}">{words.MANAGE}</button></td></tr>'
    )


def _arm(group: Group, runs: Sequence[Run]) -> str:
    if len(runs) == 1:
        return _run(group, runs[0], PRECISIONS[runs[0].precision].label)
    label = words.RUNS_OF.format(label=PRECISIONS[runs[0].precision].label, count=len(runs))
    states = chip(overall({run.status for run in runs}))
    each = "".join(
        _run(group, run, text.SEED_OF.format(label=_label(run), seed=run.config.training.seed))
        for run in runs
    )
    head = f"{swatch(runs[0].precision)}<b>{label}</b>{states}{badge(_how(runs))}"
    return f'<details class="arm-runs"><summary class="arm">{head}</summary>{each}</details>'


def _run(group: Group, run: Run, label: str) -> str:
    said = escape(words.TICK.format(run=label, title=recorded.titled(group.title)))
    return (
        f'<label class="arm"><input type="checkbox" data-run="{escape(run.id)}" '
        f'aria-label="{said}">{swatch(run.precision)}<b>{label}</b>{chip(run.status)}'
        f"{badge(run.facts.how)}</label>"
    )


def _label(run: Run) -> str:
    return PRECISIONS[run.precision].label


def _how(runs: Sequence[Run]) -> str | None:
    return next((run.facts.how for run in runs if run.facts.how), None)


def _pager(total: int, page: int) -> str:
    if total <= PAGE:
        return ""
    first, last = page * PAGE + 1, min((page + 1) * PAGE, total)
    said = words.PAGE.format(
        first=figures.count(first), last=figures.count(last), total=figures.count(total)
    )
    before = "" if page else " disabled"
    after = "" if last < total else " disabled"
    return (
        f'<nav class="pager" aria-label="{words.PAGES}">'
        f'<button type="button" data-page="{page - 1}"{before}>{words.NEWER}</button>'
        f"<span>{said}</span>"
        f'<button type="button" data-page="{page + 1}"{after}>{words.OLDER}</button></nav>'
    )
