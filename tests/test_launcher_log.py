"""The log of a run: what its process printed, kept where it blocks nothing, and cleaned."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from playground.events import Status
from playground.launcher import Launcher
from playground.store import RunStore
from tests import fakes
from tests.conftest import until_over

Launch = Callable[..., Launcher]


class TestLog:
    def test_megabytes_of_output_block_nothing_and_the_end_can_be_read(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("noisy", precisions="fp16"))
        (run,) = until_over(store, group.id).runs
        assert run.status == "finished"
        assert (store.run_folder(run.id) / "worker.log").stat().st_size > 4_000_000
        assert 10_000 < len(launcher.log_tail(run.id)) <= 20_000

    def test_tracebacks_are_in_the_log_without_the_home_folder(
        self, store: RunStore, launch: Launch
    ) -> None:
        launcher = launch()
        group = launcher.start(fakes.preset("raises", precisions="fp16"))
        (run,) = until_over(store, group.id).runs
        log = (store.run_folder(run.id) / "worker.log").read_text()
        assert "Traceback" in log and "'~/data/rows.jsonl'" in log
        assert os.path.expanduser("~/data") not in log
        assert "Traceback" in launcher.log_tail(run.id)

    def test_what_others_print_is_cleaned_and_never_shown_in_part(
        self, store: RunStore, launch: Launch, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Libraries and crashes print straight into it, past everything of ours."""
        secret = "a-key-of-some-service-that-is-long"
        monkeypatch.setenv("SOME_API_KEY", secret)
        launcher = launch()
        run_id = store.create_group("quick", "t", [fakes.config()], fakes.someone_else()).run_ids[0]
        log = store.run_folder(run_id) / "worker.log"
        log.parent.mkdir(parents=True)
        line = f'File "{os.path.expanduser("~")}/x.py" {secret}\r\n'
        for printed in range(1, 2 * len(secret)):
            log.write_text(f"{secret} {'x' * printed} {line * 400}")
            shown = launcher.log_tail(run_id)
            assert not any(secret[i:] in shown for i in range(len(secret) - 4))
        launcher._settle_as(store.get_run(run_id), Status(status="failed"))
        kept = log.read_bytes()
        assert secret.encode() not in kept and os.path.expanduser("~/x").encode() not in kept
        assert kept.endswith(b'File "~/x.py" ***\r\n')
        assert [path.name for path in log.parent.iterdir()] == ["worker.log"]

    def test_before_a_run_started_it_is_empty(self, store: RunStore, launch: Launch) -> None:
        group = store.create_group("quick", "t", [fakes.config()], "1:1.0")
        assert launch().log_tail(group.run_ids[0]) == ""

    def test_a_progress_bar_is_one_line(self, store: RunStore, launch: Launch) -> None:
        group = store.create_group("quick", "t", [fakes.config()], "1:1.0")
        folder = store.run_folder(group.run_ids[0])
        folder.mkdir(parents=True)
        (folder / "worker.log").write_bytes(b"start\n 1%\r50%\r100%\nend \xff\n")
        assert launch().log_tail(group.run_ids[0]) == "start\n100%\nend \ufffd\n"
