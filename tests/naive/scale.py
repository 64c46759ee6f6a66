"""Slow and obvious twins of `sureleaf.scale`: everything in memory, row by row."""

import math
from collections import Counter

import numpy as np

MAX_VALUES = 255


def row_hash(row):
    """The hash of the numbers of one row, in whole numbers of 64 bits."""
    mask, mixed = 2**64 - 1, 0
    for number in row:
        number = math.nan if math.isnan(number) else number + 0.0
        bits = int(np.float64(number).view(np.uint64))
        mixed = ((mixed ^ bits) * 0x9E3779B97F4A7C15) & mask
        mixed ^= mixed >> 32
    mixed = (mixed * 0xBF58476D1CE4E5B9) & mask
    return mixed ^ (mixed >> 29)


def lowest_rows(rows, n_wanted):
    """The hashes of the distinct rows with the lowest hashes, each with its number of rows."""
    counts = Counter(row_hash(row) for row in rows)
    return sorted(counts.items())[:n_wanted]


def code_of(number, values):
    """The first value that is not below the number; the number of values if it is missing."""
    if math.isnan(number):
        return len(values)
    for code, value in enumerate(values):
        if number <= value:
            return code
    return max(len(values) - 1, 0)


def class_counts(codes, labels, weights, nodes, node, n_codes, n_classes):
    """Per column, code (missing last) and class: the sum of the weights of the rows of a node."""
    cells = []
    for column, n in enumerate(n_codes):
        table = np.zeros((n + 1, n_classes), np.int64)
        for row in range(len(labels)):
            if nodes[row] == node:
                table[codes[row][column], labels[row]] += weights[row]
        cells.append(table.ravel())
    return np.concatenate(cells)
