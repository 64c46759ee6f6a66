"""Run all quality benchmarks, or the named ones.

``python -m benchmarks.quality`` runs all, ``python -m benchmarks.quality levels`` runs one.
"""

import sys

import benchmarks.quality
from benchmarks.running import run_benchmarks

if __name__ == "__main__":
    run_benchmarks(benchmarks.quality, sys.argv[1:])
