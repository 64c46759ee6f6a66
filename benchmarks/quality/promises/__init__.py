"""Coverage, false positives and power of every interval and test, where the truth is known.

``make promises`` runs all of it and keeps the rows in the record; ``tests/statistical`` runs a
short version. Discrete cases are summed exactly, the others are simulated. `record` says how a
row is sorted: at its nominal level, within a derived deviation, or missing its level.
"""
