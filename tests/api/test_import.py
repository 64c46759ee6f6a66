"""Importing Sureleaf is light and does nothing."""

import subprocess
import sys

HEAVY = ("matplotlib", "pandas", "polars", "pyarrow", "scipy.stats", "sklearn")


def loaded_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_import_sureleaf_loads_nothing_heavy() -> None:
    assert loaded_after("import sureleaf").isdisjoint(HEAVY)


def test_the_levels_load_nothing_heavy() -> None:
    assert loaded_after("import sureleaf; sureleaf.levels.confidence(9, 0.75)").isdisjoint(HEAVY)


def test_the_command_line_loads_no_numbers_before_a_command_runs() -> None:
    assert loaded_after("import sureleaf.cli").isdisjoint([*HEAVY, "numpy", "scipy"])


def test_importing_prints_nothing() -> None:
    program = "import sureleaf, sureleaf.levels, sureleaf.cli, sureleaf.reproduce"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == done.stderr == b""
