"""Run the benchmarks of a package: all of its modules that define ``run()``, or some of them."""

import importlib
import pkgutil
import sys
from types import ModuleType


def run_benchmarks(package: ModuleType, names: list[str]) -> None:
    available = {module.name for module in pkgutil.iter_modules(package.__path__)}
    modules = {
        name: importlib.import_module(f"{package.__name__}.{name}")
        for name in sorted(available - {"__main__"})
    }
    benchmarks = {name: module.run for name, module in modules.items() if hasattr(module, "run")}
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(benchmarks)}")
    for name in names or benchmarks:
        print(f"== {name}", flush=True)
        benchmarks[name]()
