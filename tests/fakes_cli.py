"""``python -m playground`` with scripted workers; the dataset names the script."""

from functools import partial

from playground import __main__ as terminal
from playground.cli import home
from playground.launcher import Launcher
from tests import fakes


def use_scripts(patch=setattr) -> None:
    """Puts scripted workers behind the commands. ``patch``: monkeypatch.setattr, to be undone."""
    for module in (terminal, home):
        patch(module, "Launcher", partial(Launcher, worker_module="tests.fakes_worker"))
    patch(terminal, "resolve_dataset", fakes.SCRIPTS.__getitem__)
    patch(terminal, "check_rows", lambda script, config: None)


if __name__ == "__main__":
    use_scripts()
    terminal.main()
