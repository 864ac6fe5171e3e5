"""The page starts however busy the machine is."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from gradio import networking

from tests.ui.conftest import serving


def test_a_machine_too_busy_for_gradios_patience_serves_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networking, "url_ok", lambda url: False)
    with serving(tmp_path / "home", "tests.ui.scripted_worker") as page:
        assert httpx.get(page.url, timeout=60).status_code == 200
