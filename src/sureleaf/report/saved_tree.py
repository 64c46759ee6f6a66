"""A saved model where a command may have been given a table instead."""

from pathlib import Path
from typing import TYPE_CHECKING

from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from sureleaf.estimators import TreeClassifier

__all__ = ["is_model", "load_tree"]


def is_model(path: Path) -> bool:
    """Tell by its first bytes whether a file is a saved model.

    Examples
    --------
    >>> is_model(Path("nowhere.csv"))
    False
    """
    from sureleaf.estimators.model_file import MAGIC

    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def load_tree(path: Path, command: str) -> "TreeClassifier":
    """Load a saved model that is one tree.

    Parameters
    ----------
    path : Path
        The model's file.
    command : str
        Who asks, for the message.

    Raises
    ------
    InvalidArgumentError
        If it is no model, or one of several trees.

    Examples
    --------
    >>> import tempfile
    >>> from sureleaf import TreeClassifier
    >>> path = Path(tempfile.mkdtemp()) / "halves.sureleaf"
    >>> TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20).save(path)
    >>> load_tree(path, "leaves").tree_.n_leaves
    2
    """
    from sureleaf.estimators import TreeClassifier, load

    model = load(path)
    if not isinstance(model, TreeClassifier):
        raise InvalidArgumentError(
            f"{command} needs a single tree; {path.name} holds {type(model).__name__}. Fit "
            "without --bagged."
        )
    return model
