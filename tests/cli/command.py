"""The installed ``sureleaf`` command, run as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

SURELEAF = str(Path(sys.executable).with_name("sureleaf"))


def sureleaf(*arguments: str, columns: int = 80) -> subprocess.CompletedProcess[str]:
    """Run the command with its output in pipes, as if in a terminal of so many columns."""
    environment = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    return subprocess.run(
        [SURELEAF, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"COLUMNS": str(columns), "TERM": "xterm"},
    )
