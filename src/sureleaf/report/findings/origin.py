"""Where the rows of a report come from."""

from dataclasses import dataclass

__all__ = ["Origin"]


@dataclass(frozen=True)
class Origin:
    """What a report says of its source besides the rows.

    Attributes
    ----------
    target : str
        Name of what is predicted.
    source : str or None
        Name of the file.
    title, command : str or None
    data_sha256 : str or None
        Of the file.
    group, weight : str or None
        Names of the columns of groups and weights.
    rows_left_out : int
        Rows without a label.
    columns_left_out : tuple of str

    Examples
    --------
    >>> Origin("class", source="data.csv").rows_left_out
    0
    """

    target: str = "target"
    source: str | None = None
    title: str | None = None
    command: str | None = None
    data_sha256: str | None = None
    group: str | None = None
    weight: str | None = None
    rows_left_out: int = 0
    columns_left_out: tuple[str, ...] = ()
