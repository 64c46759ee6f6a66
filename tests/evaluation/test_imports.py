"""The room judges any classifier: it knows no tree of ours, and formulas load quickly."""

import re
import subprocess
import sys
from pathlib import Path

import sureleaf.evaluation

ROOM = Path(sureleaf.evaluation.__file__).parent


def test_no_tree_of_ours_is_imported() -> None:
    trees = r"sureleaf\.(tree|table|counts|probability|estimators|scale|_kernel)\b"
    for file in ROOM.rglob("*.py"):
        assert not re.search(rf"^\s*(from|import) {trees}", file.read_text(), re.M), file


def test_every_public_name_is_where_it_is_said_to_be() -> None:
    assert sorted(sureleaf.evaluation._HOME_OF) == sureleaf.evaluation.__all__
    for name in sureleaf.evaluation.__all__:
        assert getattr(sureleaf.evaluation, name).__name__ == name
    assert dir(sureleaf.evaluation) == sureleaf.evaluation.__all__


def test_interval_formulas_wait_for_no_other_library() -> None:
    code = "import sys, sureleaf.evaluation.intervals; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert "sureleaf.evaluation.intervals" in loaded.split()
    assert not {"sklearn", "scipy.stats", "pandas", "pyarrow"} & set(loaded.split())
