"""Deleting a comparison: its rows in one transaction, then its folders.

A process that dies in between leaves folders and no rows, noted in ``removals``; whoever opens the
home next removes them. A folder that is not noted is never touched.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from playground.config import SettingsError
from playground.store.database import touch_group
from playground.store.past import Archive, read_groups

# Everything that hangs on a run; the runs themselves go after it, the group last.
_OF_RUNS = (
    "steps",
    "evals",
    "eval_rows",
    "eval_answers",
    "cross_evals",
    "layer_errors",
    "messages",
    "facts",
)


@dataclass(frozen=True)
class Belongings:
    """What goes with a comparison. adapters: runs with a finished adapter. size: bytes on disk."""

    runs: int
    adapters: int
    size: int

    @property
    def megabytes(self) -> float:
        return self.size / 1e6


class Removal(Archive):
    """The store's half that forgets.

    Args:
        home: what an earlier process did not get to the end of removing is removed from it.
    """

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.finish_removals()

    def belongings(self, group_id: str) -> Belongings:
        """What would go; SettingsError where it may not, or there is no such comparison."""
        self._check_deletable(group_id)
        folders = self._folders(group_id)
        return Belongings(
            runs=len(self.get_group(group_id).runs),
            adapters=sum((folder / "adapter").is_dir() for folder in folders),
            size=sum(map(_size, folders)),
        )

    def delete(self, group_id: str) -> None:
        """Forgets a comparison: its rows at once and for every reader, then its files.

        Raises:
            SettingsError: there is none, or a run of it is live; the message says the remedy.
        """
        folders = self._folders(group_id)
        with self.writing() as db:
            self._check_deletable(group_id)
            mine = "(SELECT id FROM runs WHERE group_id = :group)"
            asked = {"group": group_id}
            touch_group(db, group_id)  # pages that list comparisons look again
            db.executemany("INSERT OR IGNORE INTO removals VALUES (?)", _names(self.home, folders))
            for table in _OF_RUNS:
                db.execute(f"DELETE FROM {table} WHERE run_id IN {mine}", asked)
            db.execute("DELETE FROM runs WHERE group_id = :group", asked)
            db.execute("DELETE FROM groups WHERE id = :group", asked)
        self.finish_removals()

    def finish_removals(self) -> None:
        """Removes the folders of deleted comparisons, also those of a process that died at it."""
        with self.reading() as db:
            left = [row["folder"] for row in db.execute("SELECT folder FROM removals")]
        for name in left:
            _remove(self.home / name)
            if not (self.home / name).exists():  # else the next opening tries again
                with self.writing() as db:
                    db.execute("DELETE FROM removals WHERE folder = ?", (name,))

    def _check_deletable(self, group_id: str) -> None:
        group = next(iter(read_groups(self._connection(), [group_id])), None)
        if group is None:
            raise self.unknown(group_id)
        if not group.over:
            raise SettingsError(
                f"Comparison '{group.title}' is still running or waiting; stop it first."
            )
        if any(run.leaving for run in group.runs):
            raise SettingsError(
                f"A process of comparison '{group.title}' is still leaving; delete it in a moment."
            )

    def _folders(self, group_id: str) -> list[Path]:
        """Those that are there: of each run, and of what TensorBoard and trackio were given.

        trackio keeps a project in ``{project}.db``, beside which SQLite may have two more files:
        https://huggingface.co/docs/trackio/storage_schema
        """
        group = self.get_group(group_id)
        every = [*map(self.run_folder, group.run_ids), self.home / "tensorboard" / group_id]
        trackio = (self.home / "trackio").glob(f"{group_id}.db*")
        return [*(folder for folder in every if folder.is_dir()), *sorted(trackio)]


def _names(home: Path, folders: list[Path]) -> list[tuple[str]]:
    return [(str(folder.relative_to(home)),) for folder in folders]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):  # the next opening tries again
            path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if not file.is_dir())
