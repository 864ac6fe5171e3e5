"""The real worker with a scripted training: ``python -m tests.fakes_worker RUN_ID --home HOME``."""

import sys

from playground.worker import run_from_command_line
from tests.fakes import train

if __name__ == "__main__":
    sys.exit(run_from_command_line(train))
