"""Run the benchmarks of a folder: every module of it that defines ``run()``, or those named."""

import importlib
import pkgutil
import sys
from types import ModuleType


def run_benchmarks(folder: ModuleType, names: list[str]) -> None:
    found = {module.name for module in pkgutil.iter_modules(folder.__path__)}
    modules = {
        name: importlib.import_module(f"{folder.__name__}.{name}")
        for name in sorted(found - {"__main__"})
    }
    benches = {name: module.run for name, module in modules.items() if hasattr(module, "run")}
    unknown = [name for name in names if name not in benches]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(benches)}")
    for name in names or benches:
        print(f"== {name}", flush=True)
        benches[name]()
