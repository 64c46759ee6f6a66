"""Run the speed benchmarks, or those named.

``python -m benchmarks.speed`` runs all, ``python -m benchmarks.speed levels`` one.
"""

import sys

import benchmarks.speed
from benchmarks.running import run_benchmarks

if __name__ == "__main__":
    run_benchmarks(benchmarks.speed, sys.argv[1:])
