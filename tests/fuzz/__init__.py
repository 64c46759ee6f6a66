"""Hostile input: every target tries one damaged file or wrong call per seed.

`python -m tests.fuzz` runs the targets in child processes; see `__main__.py`. The seeds that once
found something are in `seeds.json`; `test_fuzz.py` runs them, and a few others of each target.
"""
