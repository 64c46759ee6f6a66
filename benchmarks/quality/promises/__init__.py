"""What every interval and test promises, and what it keeps, under known truth.

``make promises`` runs all of it and writes ``docs/promises.md``; ``tests/statistical`` runs a
short version. Discrete cases are summed exactly, the others simulated; each row of the table has
its simulation error, and a promise counts as kept within four of those.
"""
