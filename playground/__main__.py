"""The same actions from a terminal: compare, run, list, show, stop, pause, resume, preview, doctor.

Exit codes: 0 it went well; 1 otherwise: a run or the self-test did not finish, or the request could
not be carried out (one sentence on stderr, nothing created). A command that is not spelled right is
typer's 2.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from playground import doctor as checks
from playground import fit as fits
from playground.catalog import resolve_dataset, resolve_model
from playground.cli import export, formats, history, models, report, user
from playground.cli.home import DEFAULT_HOME, Home, JsonFile, RunOrGroup, console, existing, say
from playground.commands import command
from playground.compare import run_json
from playground.config import PRECISIONS, SettingsError, expand
from playground.data.check import check_rows
from playground.fit.terminal import fit_table, said
from playground.json_file import check_writable, write_json
from playground.launcher import PAUSE_S, Launcher, interrupted
from playground.presets import Preset, load_preset
from playground.preview import ask
from playground.preview.terminal import draw
from playground.progress import follow, view, waiting_for
from playground.sinks import SINKS, VARIABLE, chosen_sinks
from playground.store import Group, Run, RunStore, StoreError
from playground.stored import group_result, record
from playground.tables import cross_table, group_table, run_table

cli = typer.Typer(
    help="FP4 Playground from a terminal: what the page does, without the page.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
PresetName = Annotated[
    str,
    typer.Argument(
        metavar="PRESET", help="A name, such as quick or one of your own, or a .yaml file."
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, e.g. --set max_steps=40."),
]
Seeds = Annotated[
    int | None, typer.Option("--seeds", help="Repeat each precision with so many seeds.")
]
Title = Annotated[str | None, typer.Option("--title", help="A name for it, as you like.")]


def _log_to(names: str | None) -> str | None:
    if names:
        os.environ[VARIABLE] = names  # for the workers, which inherit it
        chosen_sinks()
    return names


LogTo = Annotated[
    str | None,
    typer.Option(
        "--log-to",
        metavar="SINKS",
        envvar=VARIABLE,
        callback=_log_to,
        help=f"Log the figures there too, under the home folder: {','.join(SINKS)}.",
    ),
]
_STOPPED_WITHIN_S = 15


@cli.command()
def compare(
    preset: PresetName,
    settings: Settings = None,
    seeds: Seeds = None,
    title: Title = None,
    log_to: LogTo = None,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Run a comparison to its end: one run for each precision and seed, one after another."""
    loaded = load_preset(preset, _overrides(settings, seeds), home)
    _carry_out(loaded, title, json_file, home)


@cli.command()
def run(
    preset: PresetName,
    precision: Annotated[
        str | None,
        typer.Option("--precision", help=f"{', '.join(PRECISIONS)}; else the preset's first."),
    ] = None,
    settings: Settings = None,
    seeds: Seeds = None,
    title: Title = None,
    log_to: LogTo = None,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Run a preset in one precision only."""
    changed = _overrides(settings, seeds)
    chosen = precision or load_preset(preset, changed, home).precisions[0]
    loaded = load_preset(preset, changed | {"precisions": chosen}, home)
    _carry_out(loaded, title, json_file, home)


@cli.command()
def show(run_or_group: RunOrGroup, json_file: JsonFile = None, home: Home = DEFAULT_HOME) -> None:
    """Show a comparison with its verdict, or one run with its messages and figures."""
    check_writable(json_file)
    store = existing(home)
    found = store.find(run_or_group)
    if isinstance(found, Group):
        result = group_result(store, found)
        _print_group(result, found)
    else:
        result = run_json(record(store, found))
        _print_run(store, found, result)
    write_json(json_file, result)


@cli.command()
def stop(run_or_group: RunOrGroup, json_file: JsonFile = None, home: Home = DEFAULT_HOME) -> None:
    """Stop a run, or every run of a comparison, and wait until nothing of it is left."""
    _end(run_or_group, "stop", json_file, home)


@cli.command()
def pause(run_or_group: RunOrGroup, json_file: JsonFile = None, home: Home = DEFAULT_HOME) -> None:
    """Save where a run, or every run of a comparison, is and end it, to be resumed later."""
    _end(run_or_group, "pause", json_file, home)


@cli.command()
def resume(run_or_group: RunOrGroup, json_file: JsonFile = None, home: Home = DEFAULT_HOME) -> None:
    """Go on with what was paused, stopped, interrupted or failed, and run it to its end."""
    check_writable(json_file)
    told_to_leave = interrupted()
    store = existing(home)
    found = store.find(run_or_group)
    group_id = found.id if isinstance(found, Group) else found.group_id
    launcher = Launcher(store)
    try:
        ids = launcher.resume(found.id)
    except SettingsError:
        launcher.close()
        raise
    _see_through(store, launcher, group_id, ids, told_to_leave, json_file)


@cli.command()
def preview(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="An id, a file or a folder.")],
    model: Annotated[
        str | None, typer.Option("--model", metavar="ID", help="Whose tokens; else the preset's.")
    ] = None,
    preset: Annotated[
        str, typer.Option("--preset", help="What is not set is as it says.")
    ] = "quick",
    settings: Settings = None,
    rows: Annotated[int, typer.Option("--rows", min=0, max=100, help="How many to show.")] = 3,
    every: Annotated[
        bool, typer.Option("--all", help="Count all rows that the run needs, not the first 4,096.")
    ] = False,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Show what a run would learn: rows as tokens, what is cut and dropped, and the counts."""
    check_writable(json_file)
    changed = (
        _overrides(settings, None) | {"dataset": dataset} | ({"model": model} if model else {})
    )
    config = load_preset(preset, changed, home).config
    resolve_model(config.model)
    check_rows(resolve_dataset(config.dataset), config)
    found = ask(config, rows, expand(home), every=every)
    draw(console, found)
    write_json(json_file, found)


@cli.command()
def doctor(json_file: JsonFile = None, home: Home = DEFAULT_HOME) -> None:
    """Say what this machine is, and which backend serves the 4-bit formats on it, and why."""
    check_writable(json_file)
    check_up = checks.examine(home)
    for line in checks.lines(check_up.found):
        say(line)
    if check_up.log:
        say(f"The end of what the self-test printed:\n{check_up.log}")
    write_json(json_file, check_up.found)
    if not check_up.completed:
        raise typer.Exit(1)


@cli.command()
def fit(
    preset: PresetName,
    device: Annotated[
        str | None, typer.Option("--device", help="A GPU such as rtx-5090; this machine otherwise.")
    ] = None,
    settings: Settings = None,
    json_file: JsonFile = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Say how much memory each precision will take, and whether it fits, before it is started."""
    check_writable(json_file)
    loaded = load_preset(preset, _overrides(settings, None), home)
    result = fits.predict(loaded, fits.budget(device), expand(home))
    for line in said(result):
        say(line)
    console.print(fit_table(result), highlight=False)
    write_json(json_file, result)


def _carry_out(preset: Preset, title: str | None, json_file: Path | None, home: Path) -> None:
    """Queues the comparison, draws it to its end, and leaves with the exit code."""
    resolve_model(preset.config.model)
    check_rows(resolve_dataset(preset.config.dataset), preset.config)
    check_writable(json_file)
    told_to_leave = interrupted()
    store = RunStore(home)
    launcher = Launcher(store)
    group = launcher.start(preset, title=title)
    _see_through(store, launcher, group.id, group.run_ids, told_to_leave, json_file)


def _see_through(
    store: RunStore,
    launcher: Launcher,
    group_id: str,
    run_ids: Sequence[str],
    told_to_leave: Callable[[], bool],
    json_file: Path | None,
) -> None:
    """Draws the queued runs of a comparison to their end, and leaves with the exit code."""
    say(f"Comparison {group_id}")
    if sentence := waiting_for(store, group_id):
        say(sentence)

    def ours() -> list[Run]:
        """What this terminal started and still has: others may work on the same comparison."""
        found = [store.get_run(run_id) for run_id in run_ids]
        return [run for run in found if run.owner == launcher.owner and (run.pid or not run.over)]

    def stop_ours() -> bool:
        """Whether there was anything to stop."""
        asked = [run.id for run in ours() if not run.over and not run.stop_requested]
        for run_id in asked:
            launcher.stop(run_id)
        return bool(asked)

    def leaves() -> bool:
        if not told_to_leave():
            return False
        if stop_ours():  # first, for the terminal to speak to may be gone
            say("Stopping; this takes at most 10 seconds.")
        return not ours()

    try:
        group = follow(store, group_id, view(store, console), leaves)
    except BaseException:  # the pipe we print to is closed, say: what nobody sees must not go on
        stop_ours()
        _wait_for_end(store, [run.id for run in ours()], _STOPPED_WITHIN_S)
        raise
    finally:
        launcher.close()
    if not group.over:
        say("What others started of it goes on.")
    result = group_result(store, group)
    _print_group(result, group)
    if any(not run.why_not_resumable for run in group.runs):
        say(f"Go on with it by `{command('resume', group_id, home=store.home)}`.")
    write_json(json_file, result)
    if all(store.get_run(i).status == "finished" for i in run_ids):
        raise typer.Exit(0)
    raise typer.Exit(1)


def _end(
    run_or_group: str, how: Literal["stop", "pause"], json_file: Path | None, home: Path
) -> None:
    """Asks a run, or all of a comparison, to end, and waits until nothing of it is left."""
    check_writable(json_file)
    store = existing(home)
    found = store.find(run_or_group)
    ids = found.run_ids if isinstance(found, Group) else [found.id]
    before = {i: store.get_run(i) for i in ids}
    launcher = Launcher(store)  # takes over a run whose server is gone
    launcher.pause(found.id) if how == "pause" else launcher.stop(found.id)
    within_s = _STOPPED_WITHIN_S + (PAUSE_S if how == "pause" else 0)
    if not _wait_for_end(store, ids, within_s):  # the process that watches it may be suspended
        say(f"{found.id} was asked to {how}, but the process that watches it does not act.")
        raise typer.Exit(1)
    launcher.close()
    runs = [store.get_run(i) for i in ids]
    for ended in runs:
        was = " already" if before[ended.id].over else ""
        say(f"{ended.id}:{was} {ended.status}")
    write_json(json_file, [{"id": ended.id, "status": ended.status} for ended in runs])


def _wait_for_end(store: RunStore, run_ids: Sequence[str], within_s: float) -> bool:
    """Waits until stopped runs have ended and their processes are gone; False if they are not."""
    deadline = time.monotonic() + within_s
    while any(not run.over or run.pid for run in map(store.get_run, run_ids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _overrides(settings: list[str] | None, seeds: int | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in settings or []:
        key, equals, value = text.partition("=")
        if not equals:
            raise SettingsError(f"'--set {text}' has no value; write --set {text}=VALUE.")
        pairs[key.strip()] = value
    if seeds is not None and pairs.setdefault("seeds", str(seeds)) != str(seeds):
        raise SettingsError(
            f"--seeds {seeds} and --set seeds={pairs['seeds']} disagree; give one of them."
        )
    return pairs


def _print_group(result: dict[str, Any], group: Group) -> None:
    say(f"{group.title}\n{group.id}")
    console.print(group_table(result))
    if other_bases := cross_table(result):
        console.print(other_bases)
    say(result["verdict"]["text"])


def _print_run(store: RunStore, run: Run, result: dict[str, Any]) -> None:
    console.print(run_table(run, result), highlight=False)
    for message in store.messages(run.id):
        say(f"{message.level}: {message.text}")


cli.command("list")(history.list_runs)
cli.command()(history.rename)
cli.command()(history.note)
cli.command()(history.delete)
cli.command()(models.models)
cli.command()(formats.formats)
cli.command()(export.export)
cli.command()(report.report)
cli.command()(user.user)


def main() -> None:
    """Entry point: a request that cannot be carried out gets one sentence, never a traceback."""
    for stream in (sys.stdout, sys.stderr):  # a terminal without our letters gets others, no crash
        stream.reconfigure(errors="replace")
    try:
        cli()
    except SettingsError as error:
        print(str(error), file=sys.stderr)
        sys.exit(1)
    except StoreError as error:
        text = f"The run database cannot be used: {error}; see that it can be written and has room."
        print(text, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
