"""Saving a fitted model to a file, and loading it again."""

from os import PathLike
from typing import TYPE_CHECKING, Union

from sureleaf.model.model_file import Damaged, damaged_file, newer, read_state, write_state

if TYPE_CHECKING:
    from sureleaf.estimators.bagged_trees import BaggedTreesClassifier
    from sureleaf.estimators.tree_classifier import TreeClassifier

__all__ = ["SavingMixin", "load"]


class SavingMixin:
    """A fitted model that can be saved.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> issubclass(TreeClassifier, SavingMixin)
    True
    """

    def save(self, path: str | PathLike[str]) -> None:
        """Save the fitted model, its levels included, to a file that `sureleaf.load` reads.

        The file holds plain arrays and JSON, and no training rows; docs/model-file.md describes
        it. It appears whole or not at all. Levels that were not asked for yet are computed.

        Parameters
        ----------
        path : str or path
            Where to; a file that is there is replaced.

        Raises
        ------
        InvalidTypeError
            If a parameter is an object that a file of plain values cannot hold.
        InvalidArgumentError
            If the file cannot be made.

        Examples
        --------
        >>> import tempfile
        >>> import sureleaf
        >>> model = sureleaf.TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/halves.sureleaf")
        ...     again = sureleaf.load(folder + "/halves.sureleaf")
        >>> again.levels() == model.levels(), again.predict([[3]]).tolist()
        (True, [0])
        """
        from sureleaf.model.state import state_of

        write_state(state_of(self), path)


def load(path: str | PathLike[str]) -> Union["TreeClassifier", "BaggedTreesClassifier"]:
    """Load a model that `save` wrote.

    Nothing in the file is executed, and whatever is in it is checked: it may come from anywhere.

    Parameters
    ----------
    path : str or path
        The model's file.

    Returns
    -------
    TreeClassifier or BaggedTreesClassifier
        Fitted; it predicts and states its levels as the model did that was saved. It holds no
        training rows, as after `forget_rows`.

    Raises
    ------
    InvalidArgumentError
        If the file is not there, is damaged, is no model, or was made by a newer Sureleaf.

    Examples
    --------
    >>> import tempfile
    >>> import sureleaf
    >>> model = sureleaf.TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/small.sureleaf")
    ...     print(sureleaf.load(folder + "/small.sureleaf").rules())
    x0 <= 2: no   75.0 % (2 rows: no 2)
    x0 > 2: yes   75.0 % (2 rows: yes 2)
    """
    from sureleaf.model.state import UnknownPart, model_of

    state = read_state(path)
    try:
        return model_of(state)
    except (Damaged, RecursionError) as problem:
        raise damaged_file(path, problem) from None
    except UnknownPart as problem:
        raise newer(path, f"this one does not know {problem}") from None
