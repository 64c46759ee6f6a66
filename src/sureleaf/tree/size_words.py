"""The size of a tree in words."""

__all__ = ["leaves_in_words"]


def leaves_in_words(n_leaves: int) -> str:
    """Write how many leaves there are.

    Examples
    --------
    >>> leaves_in_words(1), leaves_in_words(7)
    ('1 leaf', '7 leaves')
    """
    return "1 leaf" if n_leaves == 1 else f"{n_leaves} leaves"
