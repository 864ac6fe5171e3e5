"""Without a network: the page starts, its bundled comparison trains, and nobody else is asked."""

from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from playground.own_presets import save_preset
from playground.presets import load_preset
from playground.store import RunStore
from tests.ui.conftest import free_port, until
from tests.ui.running import App, serving

NOTING = Path(__file__).parent / "nowhere"


@pytest.mark.slow
def test_a_bundled_comparison_asks_no_other_host(run_app: App, tmp_path: Path) -> None:
    home, notes, port = tmp_path / "home", tmp_path / "hosts", free_port()
    short = {"max_steps": "1", "eval_rows": "8", "exact_match_rows": "0", "precisions": "nvfp4"}
    save_preset(load_preset("quick", short), "short", home)
    app = run_app(
        *("--port", str(port), "--start", "short", "--worker", "playground.worker"),
        PYTHONPATH=str(NOTING),
        ASKED_HOSTS=str(notes),
    )
    until(lambda: serving(app), "the page", 60)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        assert client.get("/").status_code == client.get("/config").status_code == 200
        store = RunStore(home)
        [group] = until(store.list_groups, "the comparison")
        until(lambda: store.get_group(group.id).over, "its end", 240)
        [run] = store.get_group(group.id).runs
        assert run.status == "finished", run.error
        for kind in ("html", "json", "csv"):
            assert client.get(f"/reports/{group.id}.{kind}").status_code == 200
    app.send_signal(signal.SIGTERM)
    assert app.wait(20) == 0
    assert not notes.exists(), notes.read_text()
