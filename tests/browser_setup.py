"""Finds or installs a Chromium for the browser tests, once, before pytest starts.

Order: one already on PATH; Debian's package where root may install it; playwright's own download;
otherwise one sentence says what is missing. ``PLAYGROUND_REQUIRE_BROWSER=1`` makes that an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

# The headless shell first: it draws no window of its own around each page, which costs a tenth.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)


def find() -> str | None:
    """Path of a Chromium that can be driven, or None."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and os.path.exists(path) else None


def install() -> list[str]:
    """Tries each way to get one; returns what went wrong, a line each."""
    ways: list[tuple[str, list[list[str]]]] = []
    if shutil.which("apt-get") and os.geteuid() == 0:
        apt = ["apt-get", "install", "-y", "--no-install-recommends", "fonts-dejavu-core"]
        ways += [
            ("apt-get", [["apt-get", "update"], [*apt, package]])
            for package in ("chromium-headless-shell", "chromium")
        ]
    ways.append(("playwright", [[sys.executable, "-m", "playwright", "install", "chromium"]]))
    problems = []
    for name, commands in ways:
        for command in commands:
            done = subprocess.run(
                command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
            )
            if done.returncode:
                last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no output"]
                problems.append(f"{name}: {last[0]}")
                break
        else:
            if find():
                return []
    return problems


def main() -> int:
    if path := find():
        print(f"browser: {path}")
        return 0
    problems = install()
    if path := find():
        print(f"browser: {path}")
        return 0
    required = os.environ.get("PLAYGROUND_REQUIRE_BROWSER") == "1"
    print(
        "browser: none could be installed, so the browser tests "
        f"{'cannot run' if required else 'will be skipped'} ({'; '.join(problems)}). "
        "Install Chromium by hand and run `make test` again.",
        file=sys.stderr,
    )
    return 1 if required else 0


if __name__ == "__main__":
    sys.exit(main())
