"""Run the speed benchmarks.

``python -m benchmarks.speed`` runs all of them, ``python -m benchmarks.speed levels`` only one.
"""

import sys

import benchmarks.speed
from benchmarks.running import run_benchmarks

if __name__ == "__main__":
    run_benchmarks(benchmarks.speed, sys.argv[1:])
