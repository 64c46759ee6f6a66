"""Run the quality benchmarks: every module of this folder that defines ``run()``, or those named.

``python -m benchmarks.quality`` runs all, ``python -m benchmarks.quality probabilities`` one.
"""

import importlib
import pkgutil
import sys

import benchmarks.quality


def main(names: list[str]) -> None:
    found = {module.name for module in pkgutil.iter_modules(benchmarks.quality.__path__)}
    modules = {
        name: importlib.import_module(f"benchmarks.quality.{name}")
        for name in sorted(found - {"__main__"})
    }
    benches = {name: module.run for name, module in modules.items() if hasattr(module, "run")}
    unknown = [name for name in names if name not in benches]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(benches)}")
    for name in names or benches:
        print(f"== {name}", flush=True)
        benches[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
