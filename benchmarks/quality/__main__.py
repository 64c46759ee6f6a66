"""Run the quality benchmarks, or those named.

``python -m benchmarks.quality`` runs all, ``python -m benchmarks.quality levels`` one.
"""

import sys

import benchmarks.quality
from benchmarks.running import run_benchmarks

if __name__ == "__main__":
    run_benchmarks(benchmarks.quality, sys.argv[1:])
