"""The numbers of a report, one file a section; the document is described in docs/report-json.md.

::

    effort.py          how much is computed for how many rows
    number_columns.py  the table for classifiers that take numbers only
    asked.py           what a report is asked for
    origin.py          where its rows come from
    contestants.py     the models that are judged over the same folds
    gathering.py       what all sections are computed from
    cells.py           out-of-sample predictions, and scores for the page
    leaf_words.py      1  which leaves not to trust
    cost_words.py      1  what costs make of the tree
    plain.py           numbers as JSON has them
    answer.py          1  the answer in sentences
    data.py            2  rows, columns and classes
    cautions.py        2  what is wrong with the data
    tree.py            3  nodes, leaves, rules, rows to choose from
    terms.py           3  what each figure of a leaf is
    quality.py         5  confusion, measures, calibration
    roc_band.py        5  the ROC curve with its band
    decision.py        5  the decision of least cost
    error.py           6  honest error and the learning curve
    models.py          7  the comparison with other models
    methods.py         8  what each number means
"""

__all__: list[str] = []
