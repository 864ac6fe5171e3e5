"""The one file that can be fetched of an export, and the section that makes it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from playground.export import archive_of
from playground.store import RunStore
from playground.ui import export
from playground.ui.login import Login
from playground.ui.text import export as text
from tests.generate.finished import finished_group
from tests.trained import copied
from tests.ui.conftest import Served, serving
from tests.ui.driving import unfold

Visit = Callable[..., Page]


@pytest.fixture
def archive(served: Served) -> Path:
    run_id = finished_group(served.store).run_ids[0]
    path = archive_of(served.store, run_id, "adapter")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"archive")
    (path.parent / "verified.json").write_text("{}")
    return path


def fetched(served: Served, path: str) -> httpx.Response:
    """As it is written: httpx itself would resolve dots."""
    with httpx.Client() as client:
        request = client.build_request("GET", served.url)
        request.url = request.url.copy_with(raw_path=path.encode())
        return client.send(request)


def test_a_finished_archive_is_served_and_nothing_beside_it(served: Served, archive: Path) -> None:
    run_id, home = archive.parent.parent.name, served.home
    good = fetched(served, f"/exports/{run_id}/adapter.zip")
    assert (good.status_code, good.content) == (200, b"archive")
    assert good.headers["content-disposition"] == 'attachment; filename="adapter.zip"'
    (home / "secret.zip").write_bytes(b"not for you")
    (home / "runs" / "adapter.zip").write_bytes(b"not for you")
    for path in (
        f"/exports/{run_id}/verified.json",
        f"/exports/{run_id}/merged-bf16.zip",
        f"/exports/{run_id}/../../../secret.zip",
        f"/exports/{run_id}/..%2f..%2f..%2fsecret.zip",
        f"/exports/{run_id}/%2e%2e/%2e%2e/%2e%2e/secret.zip",
        f"/exports/{run_id}/..%252f..%252fsecret.zip",
        "/exports/../adapter.zip",
        "/exports/%2e%2e/adapter.zip",
        "/exports/..%2f..%2fruns/adapter.zip",
        f"/exports/{run_id}%2f..%2f{run_id}/adapter.zip",
        f"/exports/{run_id}%00/adapter.zip",
        "/exports//adapter.zip",
        f"/exports/{home}/adapter.zip",
        f"/gradio_api/file={archive}",
        f"/gradio_api/file={home}/secret.zip",
        f"/file={archive}",
    ):
        reply = fetched(served, path)
        assert reply.status_code >= 400, path
        assert b"not for you" not in reply.content and reply.content != b"archive", path


def test_a_link_out_of_the_runs_is_not_followed(served: Served, archive: Path) -> None:
    run_id = archive.parent.parent.name
    (served.home / "secret").write_bytes(b"not for you")
    archive.unlink()
    archive.symlink_to(served.home / "secret")
    assert fetched(served, f"/exports/{run_id}/adapter.zip").status_code == 404
    archive.unlink()
    outside = served.home.parent / "outside"
    outside.mkdir()
    (outside / "adapter.zip").write_bytes(b"not for you")
    archive.parent.joinpath("verified.json").unlink()
    archive.parent.rmdir()
    archive.parent.symlink_to(outside)
    assert fetched(served, f"/exports/{run_id}/adapter.zip").status_code == 404


def test_who_may_change_nothing_takes_nothing_away(tmp_path: Path) -> None:
    store = RunStore(tmp_path / "home")
    run_id = finished_group(store).run_ids[0]
    path = archive_of(store, run_id, "adapter")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"archive")
    with serving(store.home, "tests.ui.scripted_worker", Login({"ann": "x"})) as served:
        reply = fetched(served, f"/exports/{run_id}/adapter.zip")
        assert reply.status_code == 403 and reply.content != b"archive"


def test_arms_are_told_apart_by_their_seed(store: RunStore) -> None:
    group = finished_group(store, "fp16,fp16,nvfp4")
    names = [export.named(run, group) for run in export.exportable(store, group)]
    assert names == ["FP16, seed 42", "FP16, seed 42", "NVFP4"]
    assert export.ready(store, group) == ""


@pytest.fixture
def served_trained(trained_home: Path, tmp_path: Path) -> Iterator[Served]:
    """The page over a comparison that has been trained."""
    with serving(copied(trained_home, tmp_path / "home").home, "tests.ui.scripted_worker") as page:
        yield page


@pytest.mark.slow
def test_build_check_and_download(served_trained: Served, visit: Visit) -> None:
    (group,) = served_trained.store.list_groups()
    page = visit(f"{served_trained.url}/?group={group.id}")
    unfold(page, text.TITLE)
    page.locator("#export-arm").get_by_label("NVFP4").check()
    page.locator("#export-make").click()
    expect(page.locator("#export-said")).to_contain_text(text.DONE, timeout=90_000)
    line = page.locator(".exports li")
    expect(line).to_contain_text("NVFP4: Adapter")
    expect(line).to_contain_text(text.VERIFIED_EXACT)
    with page.expect_download() as fetched:
        line.get_by_role("link").click()
    packed = BytesIO(Path(fetched.value.path()).read_bytes())
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
        assert "adapter/adapter_model.safetensors" in archive.namelist()
