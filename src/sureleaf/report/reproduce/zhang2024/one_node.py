"""Tables 1 and 2: the levels of one node; and the sample sizes read off them."""

from sureleaf import levels
from sureleaf.report.reproduce.judgement import Cell, Computed, Part, judge
from sureleaf.report.reproduce.zhang2024.printed import printed, printed_table

__all__ = ["sample_sizes", "table"]

LEVELS = {1: ("confidence", levels.confidence, "(5)"), 2: ("utility", levels.utility, "(6)")}


def table(number: int) -> Part:
    """Return Table 1 or 2, judged.

    Examples
    --------
    >>> table(2)
    Part('table 2': 275 cells, 271 agrees, 4 other computation, 0 misprint)
    """
    _, level, definition = LEVELS[number]
    content = printed_table(number)
    cells = [
        judge(f"n = {n}", f"{p:.2f}".lstrip("0"), figure, 2, Computed(float(level(int(n), p))))
        for n, figures in content["rows"].items()
        for p, figure in zip(content["p_max"], figures, strict=True)
    ]
    other = f"{definition}, cut off after two decimals instead of rounded"
    return Part(f"table {number}", content["what"], definition, other, tuple(cells))


def sample_sizes() -> Part:
    """Return the two sample sizes that the text under Table 2 reads off the tables.

    Examples
    --------
    >>> [int(cell.defined.value) for cell in sample_sizes().cells]
    [9, 7]
    """
    text = printed()["text_under_table_2"]
    return Part(
        "text under table 2",
        "smallest n that reaches a level",
        "smallest n by (5), (6)",
        "smallest n whose level reaches it once rounded to two decimals",
        tuple(_sample_size(number, text) for number in LEVELS),
    )


def _sample_size(number: int, text: dict[str, float]) -> Cell:
    name, level, _ = LEVELS[number]
    p, wanted, figure = text["p_max"], text[name], text[f"rows_for_{name}"]
    exact = int(levels.sample_size(p, **{name: wanted}))
    rounded = next(n for n in range(1, exact + 1) if round(float(level(n, p)), 2) >= wanted)
    return judge(
        f"{name} of {wanted:.2f}", f"p_max = {p}", figure, 0, Computed(exact), Computed(rounded)
    )
