"""The dataset's part of the form: a file can be uploaded, and what its columns mean be said.

Everything that stands in a file, its columns' names among it, is escaped and shown as text.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from playground.catalog import list_datasets, resolve_dataset
from playground.config import SettingsError, named_columns, private, write_columns
from playground.data.formats import column_key
from playground.data.rows import first_row
from playground.data.uploads import MAX_BYTES, columns_of, keep, kept, shown
from playground.preview import ask_columns, ask_upload
from playground.preview.words import printable
from playground.processes import ProcessId
from playground.ui import guard, panels, recorded, visitors
from playground.ui.quiet import QUIET
from playground.ui.text import data as text

PARTS = tuple(text.PARTS)
_SHOWN_COLUMNS = 40
Known = Mapping[str, Any]
"""What ``columns_of`` found of a dataset, or ``{"refused": sentence}``; empty before that."""


@dataclass(frozen=True)
class DataPart:
    """The widgets, and what is known of the dataset that is chosen."""

    upload: gr.UploadButton
    said: gr.HTML
    known: gr.State
    fold: gr.Accordion
    table: gr.HTML
    parts: dict[str, gr.Dropdown]
    complaint: gr.HTML
    recognised: gr.Button

    @property
    def shown(self) -> list[Any]:
        """What ``mapping`` fills."""
        return [self.fold, self.table, *self.parts.values(), self.complaint, self.recognised]


def build() -> DataPart:
    """Draws it; call it inside ``gr.Blocks``."""
    with gr.Row(elem_classes="upload"):
        upload = gr.UploadButton(
            text.UPLOAD, size="sm", elem_id="upload-button", min_width=120, scale=0
        )
        info = text.UPLOAD_INFO.format(most=MAX_BYTES // 2**20)
        gr.HTML(f'<p class="soft">{escape(info)}</p>', apply_default_css=False)
    said = gr.HTML("", elem_id="uploaded", apply_default_css=False)
    with gr.Accordion(
        text.COLUMNS, open=False, elem_classes="fold", elem_id="columns-said"
    ) as fold:
        table = gr.HTML("", elem_id="columns-table", apply_default_css=False)
        with gr.Row(elem_classes="grid-2"):
            parts = {
                part: gr.Dropdown(
                    [(text.NO_COLUMN, "")],
                    value="",
                    label=label,
                    info=info,
                    filterable=False,
                    elem_id=f"column-{part}",
                    min_width=120,
                )
                for part, (label, info) in text.PARTS.items()
            }
        hidden = {"visible": False, "elem_id": "as-recognised"}
        recognised = gr.Button(text.AS_RECOGNISED, size="sm", **hidden)
    complaint = gr.HTML("", elem_id="columns-complaint", apply_default_css=False)
    return DataPart(upload, said, gr.State({}), fold, table, parts, complaint, recognised)


def wire(app: gr.Blocks, part: DataPart, fields: Mapping[str, Any], home: Path) -> list[Any]:
    """Connects it with the form's fields ``dataset`` and ``columns``.

    Returns:
        The events after which the columns of the same rows mean something else.
    """
    dataset, columns = fields["dataset"], fields["columns"]

    def on_upload(file: dict[str, Any] | None) -> Iterator[list[Any]]:
        # As the browser sent it, for Gradio's own way forgets what the file was called.
        received = file and (file["path"], file.get("orig_name") or Path(file["path"]).name)
        waiting = text.UPLOAD_WAITING.format(name=shown(received[1]) if received else "")
        yield [_status(waiting), gr.skip(), gr.skip()]
        try:
            path, name = take(home, received)
        except SettingsError as error:
            yield [panels.notice(printable(str(error))), gr.skip(), gr.skip()]
            return
        said = _status(text.UPLOADED.format(name=printable(name)))
        yield [said, gr.Dropdown(choices(home), value=private(str(path))), ""]

    def on_dataset(name: str | None, setting: str, request: gr.Request) -> list[Any]:
        try:
            known = known_of((name or "").strip(), guard.may_change(request))
        except SettingsError as error:
            known = {"refused": str(error)}
        return [known, *mapping(known, setting)]

    def on_open(request: gr.Request) -> Any:
        # Nothing where nothing was added: it may come while somebody types into the field.
        seen = guard.may_change(request) and kept(home)
        return gr.Dropdown(choices(home)) if seen else gr.skip()

    def on_parts(known: Known, *picked: str) -> list[Any]:
        if "columns" not in known:
            return [gr.skip()] * (1 + len(part.shown))
        setting = written(known, dict(zip(PARTS, picked, strict=True)))
        return [setting, *mapping(known, setting)]

    child = {"concurrency_limit": 2, "concurrency_id": "rows", **QUIET}
    given = [part.said, dataset, columns]
    part.upload.upload(guard.changes(on_upload), part.upload, given, preprocess=False, **child)
    known = [part.known, *part.shown]
    gr.on([dataset.change, app.load], on_dataset, [dataset, columns], known, **child)
    app.load(on_open, None, dataset, queue=False, **QUIET)
    columns.change(mapping, [part.known, columns], part.shown, queue=False, **QUIET)
    picked = gr.on(
        [each.input for each in part.parts.values()],
        on_parts,
        [part.known, *part.parts.values()],
        [columns, *part.shown],
        queue=False,
        **QUIET,
    )
    again = part.recognised.click(lambda: "", None, columns, queue=False, **QUIET)
    entered = columns.submit(mapping, [part.known, columns], part.shown, queue=False, **QUIET)
    return [picked, again, entered]


def _status(sentence: str) -> str:
    return f'<p class="soft" role="status">{escape(printable(sentence))}</p>'


# Uploads.


def receive_apart() -> Path:
    """A folder of this process alone for files on their way in; it is gone when the process is.

    Gradio's own is shared by all of a machine's users, and what breaks off half way stays there.
    """
    given = os.environ.get("GRADIO_TEMP_DIR", "")
    if _APART not in given or not Path(given).is_dir():
        _sweep()
        given = tempfile.mkdtemp(prefix=f"{_APART}{ProcessId.of()}-")
        os.environ["GRADIO_TEMP_DIR"] = given
        atexit.register(shutil.rmtree, given, ignore_errors=True)
    return Path(given)


def forget_halves() -> None:
    """Removes what broke off; call it while nothing is on its way.

    Gradio puts what is whole into a folder by its content, and leaves a half where it was.
    """
    for path in receive_apart().iterdir():
        if path.is_file():
            path.unlink(missing_ok=True)


def _sweep() -> None:
    """Removes the folders of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_APART}*"):
        process = folder.name.removeprefix(_APART).rpartition("-")[0]
        try:
            left_over = not ProcessId.parse(process).is_alive()
        except ValueError:
            continue
        if left_over:
            shutil.rmtree(folder, ignore_errors=True)


_APART = "fp4-playground-arriving-"


def take(home: Path, received: tuple[str, str] | None) -> tuple[Path, str]:
    """Checks and keeps an uploaded file.

    Returns:
        Where it is from now on, which is the dataset's id, and what it is called.
    Raises:
        SettingsError: it cannot be used; nothing of it is left.
    """
    if received is None:
        raise SettingsError(text.NOT_ARRIVED)
    path, name = Path(received[0]), received[1]
    if path.is_symlink() or not path.is_file():
        raise SettingsError(text.NOT_ARRIVED)
    try:
        return keep(home, path, name, ask_upload)
    finally:
        if path.parent.parent == Path(os.environ.get("GRADIO_TEMP_DIR", "")):
            shutil.rmtree(path.parent, ignore_errors=True)


def choices(home: Path) -> list[tuple[str, str]]:
    """Datasets to pick from: those that are bundled, and those uploaded before."""
    ours = list_datasets()
    bundled = [(f"{recorded.said(entry.title)} ({entry.id})", entry.id) for entry in ours]
    given = [
        (text.UPLOAD_CHOICE.format(name=printable(upload.name)), private(str(upload.path)))
        for upload in kept(home)
    ]
    return bundled + given


# Columns.


def known_of(dataset: str, may_read: bool = True) -> Known:
    """Its columns, found out by a child process; ours are known to be sound and read here.

    Args:
        may_read: whether who asks may see what lies in this machine's files.
    Raises:
        SettingsError: it cannot be read, or not by who asks.
    """
    if dataset in {entry.id for entry in list_datasets()}:
        return columns_of(first_row(resolve_dataset(dataset)))
    visitors.refuse_dataset(dataset, may_read)
    return ask_columns(dataset) if dataset else {}


def chosen(known: Known, written: str) -> tuple[dict[str, str], str]:
    """The column of each part, by the setting ``columns`` or as recognised; and what is wrong.

    Args:
        written: the setting, as it stands in the form.
    """
    if not written.strip():
        parts = dict(known["recognised"] or {})
        return parts, "" if parts else text.NOT_RECOGNISED
    try:
        said = named_columns(written)
    except SettingsError as error:
        return {}, str(error)
    names = {column_key(column["name"]): column["name"] for column in known["columns"]}
    parts = {}
    for part, column in said.items():
        if column_key(column) not in names:
            return {}, text.NOT_THERE.format(part=text.PART_WORDS[part], column=column)
        parts[part] = names[column_key(column)]
    return parts, complaint(known, parts)


def complaint(known: Known, parts: Mapping[str, str]) -> str:
    """Why these columns make no row, in a sentence; nothing if they do."""
    return _not_whole(parts) or _twice(parts) or _of_another_kind(known, parts)


def _not_whole(parts: Mapping[str, str]) -> str:
    words = text.PART_WORDS
    alone = next((part for part in ("messages", "text") if part in parts), None)
    if alone and len(parts) > 1:
        other = next(part for part in parts if part != alone)
        surplus = alone if other in ("prompt", "answer") else other
        missing = text.TAKE_AWAY.format(part=words[surplus])
    elif alone:
        return ""
    else:
        lacking = next((part for part in ("prompt", "answer") if part not in parts), None)
        if lacking is None:
            return ""
        missing = text.CHOOSE_ALSO.format(part=words[lacking])
    return text.INCOMPLETE.format(missing=missing)


def _twice(parts: Mapping[str, str]) -> str:
    first: dict[str, str] = {}
    for part, column in parts.items():
        if column in first:
            words = (text.PART_WORDS[first[column]], text.PART_WORDS[part])
            return text.TWICE.format(first=words[0], second=words[1], column=column)
        first[column] = part
    return ""


def _of_another_kind(known: Known, parts: Mapping[str, str]) -> str:
    kinds = {column["name"]: column["kind"] for column in known["columns"]}
    turns = kinds.get(parts.get("prompt", "")) == "list"  # a prompt may be turns itself
    for part, column in parts.items():
        kind = kinds[column]
        if part == "messages" and kind not in ("list", "nothing"):
            return text.NOT_TURNS.format(column=column, kind=text.KINDS[kind])
        may_be_turns = turns and part in ("prompt", "answer")
        if part != "messages" and kind in ("list", "object") and not may_be_turns:
            words = {"kind": text.KINDS[kind], "part": text.PART_WORDS[part]}
            return text.NOT_TEXT.format(column=column, **words)
    return ""


def written(known: Known, picked: Mapping[str, str | None]) -> str:
    """The setting ``columns`` that says what was picked; nothing where it is as recognised."""
    parts = {part: column for part, column in picked.items() if column}
    return "" if parts == (known.get("recognised") or {}) else write_columns(parts)


def mapping(known: Known, setting: str) -> list[Any]:
    """What each widget of ``DataPart.shown`` becomes."""
    if "columns" not in known:
        nothing = gr.Dropdown([(text.NO_COLUMN, "")], value="")
        label = text.COLUMNS_UNREAD if known else text.COLUMNS
        return [
            gr.Accordion(label),
            "",
            *[nothing for _ in PARTS],
            _complaint(known.get("refused", "")),
            gr.Button(visible=False),
        ]
    parts, wrong = chosen(known, setting)
    offered = [(text.NO_COLUMN, "")]
    offered += [(printable(c["name"]), c["name"]) for c in known["columns"] if c["name"]]
    by_hand = bool(setting.strip())
    fold = {"open": True} if wrong else {}
    return [
        gr.Accordion(_label(parts, by_hand), **fold),
        _table(known),
        *(gr.Dropdown(offered, value=parts.get(part, "")) for part in PARTS),
        _complaint(wrong),
        gr.Button(visible=by_hand and bool(known["recognised"])),
    ]


def _complaint(sentence: str) -> str:
    return panels.notice(printable(sentence))


def _label(parts: Mapping[str, str], by_hand: bool) -> str:
    if not parts:
        return text.COLUMNS_UNKNOWN
    said = text.COLUMNS_AND.join(
        text.COLUMNS_OF_PART.format(part=text.PART_WORDS[part], column=printable(column))
        for part, column in parts.items()
    )
    return (text.COLUMNS_BY_HAND if by_hand else text.COLUMNS_RECOGNISED).format(mapping=said)


def _table(known: Known) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(printable(column["name"]))}</th>'
        f"<td>{escape(printable(column['example'])) or text.COLUMN_EMPTY}</td></tr>"
        for column in known["columns"][:_SHOWN_COLUMNS]
    )
    left = len(known["columns"]) - _SHOWN_COLUMNS
    more = f'<p class="soft">{text.MORE_COLUMNS.format(count=left)}</p>' if left > 0 else ""
    return (
        f'<table class="columns-read"><thead><tr><th>{text.COLUMN_NAME}</th>'
        f"<th>{text.COLUMN_EXAMPLE}</th></tr></thead><tbody>{rows}</tbody></table>{more}"
    )
