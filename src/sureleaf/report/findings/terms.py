"""What the figures of a leaf are, a sentence each: they answer different questions."""

__all__ = ["leaf_terms"]


def leaf_terms(n_classes: int) -> dict[str, str]:
    """Return what is explained of a leaf, by the names of its figures.

    Examples
    --------
    >>> print(leaf_terms(2)["utility"])
    Chance that the tree is right about the next row that comes here, from the same predictions.
    """
    tie = "one half" if n_classes == 2 else "what a tie with the next class would give it"
    return {
        "counts": "Rows that grew the leaf, by class: the leaf was drawn around them, so their "
        "shares are mostly too good to be true of other rows.",
        "stated": "What the tree predicts for a row that comes here (predict_proba): the mean over "
        "the ways to prune the tree above the leaf. Where that would name another class, the "
        "leaf's majority class is raised to a tie with it and named.",
        "probability": "Share of the most probable class among rows that come here, with its "
        "interval, from predictions of trees that had not seen the rows. It is that of the class "
        f"named as far as the leaf names the right one, and is never put below {tie}: a leaf that "
        "is right less often has that value and is flagged.",
        "confidence": "Chance that the class named is the most probable class of rows that come "
        "here.",
        "utility": "Chance that the tree is right about the next row that comes here, from the "
        "same predictions.",
        "rows_needed": "Rows in the leaf, all told, with which it would reach the wanted levels if "
        "its probability stays what it is; not known where the probability is that of a tie.",
        "levels": "Means over the leaves of the tree, weighted by their rows. The utility "
        "speaks of this very tree; the cross-validated accuracy judges the way of growing, by "
        "trees of fewer rows and other folds, so the two differ a little.",
    }
