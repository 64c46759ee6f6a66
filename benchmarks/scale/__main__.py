"""``python -m benchmarks.scale [NAME]``: run all benchmarks of this folder, or one."""

import sys

from benchmarks import scale
from benchmarks.running import run_benchmarks

run_benchmarks(scale, sys.argv[1:])
