"""Importing Sureleaf is fast, and has no side effects."""

import subprocess
import sys

HEAVY = ("matplotlib", "pandas", "polars", "pyarrow", "scipy.stats", "sklearn")


def modules_after(statement: str) -> set[str]:
    """Return the modules that a new interpreter has imported after a statement."""
    program = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return set(done.stdout.split())


def test_importing_sureleaf_imports_no_heavy_library() -> None:
    assert modules_after("import sureleaf").isdisjoint(HEAVY)


def test_computing_levels_imports_no_heavy_library() -> None:
    assert modules_after("import sureleaf; sureleaf.levels.confidence(9, 0.75)").isdisjoint(HEAVY)


def test_the_command_line_imports_no_numeric_library_before_a_command_runs() -> None:
    assert modules_after("import sureleaf.cli").isdisjoint([*HEAVY, "numpy", "scipy"])


def test_importing_prints_nothing() -> None:
    program = "import sureleaf, sureleaf.levels, sureleaf.cli, sureleaf.reproduce"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == done.stderr == b""
