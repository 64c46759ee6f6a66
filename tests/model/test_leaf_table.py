import numpy as np

from sureleaf.model.leaf_table import RowsNeeded, rows_of_posterior
from sureleaf.model.node_levels import levels_of_accuracy, posterior_confidence


def test_rows_needed_of_a_tree_of_one_leaf_reach_its_confidence():
    counts = np.array([[45.0, 55.0]])
    known = np.array([100.0])
    levels = levels_of_accuracy(counts, known, counts / 100, np.array([0.55]), known)
    assert levels.confidence[0] < 0.8
    needed = rows_of_posterior(levels, np.array([0]), 0.95)[0]

    def confidence_with(rows):
        share = 0.55 * 100 / 101  # as `rows_of_posterior` counts it, with an error in the next row
        return posterior_confidence(np.array([share]), np.array([rows]), np.array([0.5]), 0.5)[0]

    assert confidence_with(needed) >= 0.95
    assert confidence_with(needed - 2) < 0.95


def test_rows_needed_are_rows_of_the_table_where_levels_count_effective_ones():
    counts = np.array([[60.0, 40.0], [50.0, 50.0]])
    known = np.array([100.0, 20.0])  # the second leaf has a few rows of large weight
    accuracy = np.array([0.9, 0.65])
    levels = levels_of_accuracy(counts, known, counts / 100, accuracy, known)
    needs = RowsNeeded.of(levels, np.array([0, 1]), np.array([100.0, 100.0]), 0.95, None)
    alike = RowsNeeded.of(levels, np.array([0, 1]), known, 0.95, None)
    assert levels.confidence[1] < 0.95
    assert 5 * (alike.rows[1] - 1) < needs.rows[1] <= 5 * alike.rows[1]
    assert needs.total_rows[1] > 200
