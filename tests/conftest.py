"""What every test may use: a store in a temporary home, launchers that leave nothing behind."""

from __future__ import annotations

import fcntl
import importlib.metadata
import os
import platform
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from playground.launcher import Launcher
from playground.store import Group, RunStore

# Without a GPU Triton's kernels run in its interpreter. Triton reads this when it is imported.
if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")

# As in a worker: threads that spin while they wait make a busy machine many times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if "PYTEST_XDIST_WORKER" in os.environ:  # one of several processes: the cores are shared already
    os.environ.setdefault("OMP_NUM_THREADS", "1")

LIBRARIES = ("torch", "triton", "transformers", "peft", "gradio", "pydantic")
DEADLINE_S = 60  # far beyond what anything takes: only a fault gets here


def pytest_report_header() -> str:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES)
    return f"python {platform.python_version()}, {versions}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files that take longest first: one that began last would leave the other processes idle.

    ``--dist loadfile --no-loadscope-reorder`` hands the files out in this order.
    """
    takes: dict[Path, float] = defaultdict(float)
    for item in items:
        takes[item.path] += _seconds(item)
    items.sort(key=lambda item: -takes[item.path])  # within a file the order stays


def _seconds(item: pytest.Item) -> float:
    """What a test takes, roughly."""
    if item.get_closest_marker("slow"):
        return 20
    return 5 if "chromium" in getattr(item, "fixturenames", ()) else 0.1


def until(true: Callable[[], object], what: str, deadline_s: float = DEADLINE_S) -> None:
    """Waits for a condition; fails, saying what did not come true, at the deadline."""
    deadline = time.monotonic() + deadline_s
    while not true():
        assert time.monotonic() < deadline, f"not within {deadline_s} s: {what}"
        time.sleep(0.01)


def until_over(store: RunStore, group_id: str, deadline_s: float = DEADLINE_S) -> Group:
    """Waits until every run of the group has ended and its process is gone."""

    def gone() -> bool:
        group = store.get_group(group_id)
        return group.over and not any(run.pid for run in group.runs)

    until(gone, f"the end of {group_id}", deadline_s)
    return store.get_group(group_id)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(scope="session")
def trained_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one finished comparison that was really trained; copy it to change anything.

    Of several test processes the first that asks trains it, and each has a copy.
    """
    own = tmp_path_factory.mktemp("trained") / "home"
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _train(own)
        return own
    for_all = tmp_path_factory.getbasetemp().parent / "trained"
    with for_all.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not for_all.exists():
            unfinished = own.with_name("unfinished")
            _train(unfinished)
            unfinished.rename(for_all)
    shutil.copytree(for_all, own)
    return own


def _train(home: Path) -> None:
    from tests.trained import configured, train_into

    store = RunStore(home)
    train_into(store, configured("fp16"), configured("nvfp4"))
    store.close()


@pytest.fixture
def store(home: Path) -> Iterator[RunStore]:
    opened = RunStore(home)
    yield opened
    opened.close()


@pytest.fixture
def launch(store: RunStore) -> Iterator[Callable[..., Launcher]]:
    """Makes launchers of scripted workers; at the end every run is stopped and its process gone."""
    made: list[Launcher] = []

    def make(**arguments: object) -> Launcher:
        made.append(Launcher(store, **{"worker_module": "tests.fakes_worker", **arguments}))
        return made[-1]

    yield make
    for launcher in made:
        store.request_stop(*(run.id for run in store.live()))
        mine = partial(_has_work, store, launcher.owner)
        until(lambda mine=mine: not mine(), "a test's own workers to be gone")
        launcher.close()


def _has_work(store: RunStore, owner: str) -> bool:
    return any(run.owner == owner for run in store.live())
