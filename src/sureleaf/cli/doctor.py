"""``sureleaf doctor``: what is installed, and whether it works."""

import platform
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import typer

from sureleaf.cli import options
from sureleaf.cli.output import show, show_json

REQUIRED = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "narwhals",
    "pyarrow",
    "typer",
    "rich",
    "jinja2",
)
OPTIONAL = {
    "matplotlib": "plots",
    "onnx": "export to ONNX",
    "pandas": "pandas data frames",
    "polars": "polars data frames",
    "duckdb": "DuckDB relations",
    "lightgbm": "audits of LightGBM models",
    "xgboost": "audits of XGBoost models",
    "skops": "audits of skops files",
}


def installed_versions() -> dict[str, str | None]:
    """Return the versions that matter for a bug report; None for what is not installed."""
    import sureleaf

    versions: dict[str, str | None] = {
        "sureleaf": sureleaf.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    versions |= {name: _version(name) for name in (*REQUIRED, *OPTIONAL)}
    versions["xgboost"] = versions["xgboost"] or _version("xgboost-cpu")  # the build without GPU
    return versions


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _required_packages() -> str:
    missing = [name for name in REQUIRED if installed_versions()[name] is None]
    if missing:
        raise RuntimeError(f"{', '.join(missing)} missing. Install again: pip install sureleaf")
    return "all installed"


def _kernel() -> str:
    from sureleaf import _kernel

    return f"{len(_kernel.criterion_names())} split criteria"


def _small_tree() -> str:
    from sureleaf import TreeClassifier

    rows, labels = [[i] for i in range(40)], ["low"] * 20 + ["high"] * 20
    model = TreeClassifier(random_state=0).fit(rows, labels)
    if model.get_n_leaves() != 2 or model.predict([[3], [33]]).tolist() != ["low", "high"]:
        raise RuntimeError(f"it has {model.get_n_leaves()} leaves instead of 2")
    return f"2 leaves, utility {model.levels().utility:.2f}"


def _theory() -> str:
    from sureleaf.levels import confidence

    # With 3 rows and p_max = 0.9 the majority is the true one in 0.9^3 + 3 * 0.9^2 * 0.1.
    got, expected = float(confidence(3, 0.9)), 0.972
    if abs(got - expected) > 1e-12:
        raise RuntimeError(f"got {got!r} instead of {expected}")
    return "as computed by hand"


def _files() -> str:
    import tempfile
    from pathlib import Path

    from sureleaf import TreeClassifier, load

    model = TreeClassifier.c45(levels_from="training").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.sureleaf"
        model.save(path)
        if load(path).predict([[4]]).tolist() != [1]:
            raise RuntimeError("a saved model predicts something else")
    return "a model was saved and loaded"


def _terminal() -> str:
    encoding = sys.stdout.encoding or "unknown"
    if encoding.lower().replace("-", "") != "utf8":
        raise RuntimeError(f"{encoding}, so lines and bars are drawn with ASCII signs")
    return encoding


CHECKS: dict[str, Callable[[], str]] = {
    "required packages": _required_packages,
    "compiled kernel": _kernel,
    "a small tree": _small_tree,
    "confidence by the formula": _theory,
    "model files": _files,
    "text encoding of this terminal": _terminal,
}
HARMLESS = {"text encoding of this terminal"}


def _run(name: str, check: Callable[[], str]) -> dict[str, Any]:
    """Return what was tried, whether it works, and what was found."""
    try:
        return {"name": name, "works": True, "detail": check()}
    except Exception as problem:  # a broken installation fails in any way
        return {"name": name, "works": False, "detail": f"{type(problem).__name__}: {problem}"}


def doctor(as_json: options.AsJson = False) -> None:
    """Check the installation: versions, the compiled kernel, a small tree, model files.

    The exit code is 1 if something does not work. Copy the output into a bug report.

    For example:
    - sureleaf doctor
    - sureleaf doctor --json
    """
    from rich.text import Text

    versions, checks = installed_versions(), [_run(*item) for item in CHECKS.items()]
    is_healthy = all(one["works"] or one["name"] in HARMLESS for one in checks)
    if as_json:
        show_json({"versions": versions, "checks": checks, "healthy": is_healthy})
    else:
        show(*map(Text, _lines(versions, checks, is_healthy)))
    if not is_healthy:
        raise typer.Exit(1)


def _lines(
    versions: dict[str, str | None], checks: list[dict[str, Any]], is_healthy: bool
) -> list[str]:
    absent = [f"{name} ({OPTIONAL[name]})" for name in OPTIONAL if versions[name] is None]
    return [
        *(f"{name} {number}" for name, number in versions.items() if number is not None),
        *([f"Not installed (optional): {', '.join(absent)}."] if absent else []),
        "",
        *(
            f"{'works' if one['works'] else 'FAILS'}: {one['name']} ({one['detail']})"
            for one in checks
        ),
        "",
        "Everything works." if is_healthy else "Something does not work: see FAILS.",
    ]
