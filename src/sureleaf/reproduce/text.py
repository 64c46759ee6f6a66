"""A reproduction as text: the summary of a document, or one part cell by cell."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

from sureleaf.reproduce.comparison_table import Cell, Part, Reproduction, Verdict

__all__ = ["cell_by_cell", "summary"]


STYLE = {Verdict.AGREES: "", Verdict.OTHER: "yellow", Verdict.MISPRINT: "bold red"}
WIDE = 96  # columns of a terminal that has room for titles and notes beside the figures
MARK = {Verdict.AGREES: " ", Verdict.OTHER: "~", Verdict.MISPRINT: "!"}


def summary(found: Reproduction) -> list[RenderableType]:
    """Return the counts of every part, what explains them, the misprints, and the sum.

    Examples
    --------
    >>> from sureleaf.reproduce import reproduce
    >>> summary(reproduce("zhang2024").only(["table 1"]))[-1]
    '275 figures: 275 as defined, 0 from another computation, 0 misprints.'
    """
    parts: list[RenderableType] = [Text(found.source, style="bold"), _counts(found)]
    if found.counts[Verdict.OTHER]:
        parts += [_heading("Computed in another way than defined"), _others(found)]
    if found.counts[Verdict.MISPRINT]:
        parts += [_heading("Misprints"), _misprints(*found.parts)]
    return [*parts, "", _sentence(*found.parts)]


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _counts(found: Reproduction) -> RenderableType:
    return _ByWidth(lambda width: [_count_table(found, titles=width >= WIDE)])


def _count_table(found: Reproduction, *, titles: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False)
    total = sum(len(part.cells) for part in found.parts)
    table.add_column("part", "all", no_wrap=True)
    table.add_column("cells", f"{total:,}", justify="right", no_wrap=True)
    for verdict, name in zip(Verdict, ("agree", "other", "misprint"), strict=True):
        footer = Text(f"{found.counts[verdict]:,}", style=STYLE[verdict])
        table.add_column(name, footer, justify="right", no_wrap=True)
    if titles:
        table.add_column("what")
    for part in found.parts:
        counts = [
            Text(f"{n}" if n else "·", style=STYLE[verdict] if n else "dim")
            for verdict, n in part.counts.items()
        ]
        what = [Text(part.title, style="dim")] if titles else []
        table.add_row(part.name, f"{len(part.cells)}", *counts, *what)
    return table


def _others(found: Reproduction) -> Table:
    """Return each other computation once, with the parts it explains."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(max_width=18)
    table.add_column()
    concerned = [part for part in found.parts if part.of(Verdict.OTHER)]
    ordered = sorted(concerned, key=lambda part: part.other_computation)
    groups = [list(group) for _, group in groupby(ordered, key=lambda p: p.other_computation)]
    for group in sorted(groups, key=lambda group: concerned.index(group[0])):
        told = Text(group[0].other_computation)
        told.append(f" ({_fit(group)})", style="dim")
        table.add_row(Text(_names(group), style=STYLE[Verdict.OTHER]), told)
    return table


def _fit(parts: list[Part]) -> str:
    """Say how many cells the other computation explains, of those it could."""
    cells = [cell for part in parts for cell in part.cells]
    tried = [cell for cell in cells if cell.other is not None]
    if not tried:
        return f"{sum(cell.verdict is Verdict.OTHER for cell in cells)} cells"
    fit = sum(map(_explained, tried))
    more = sum(cell.verdict is Verdict.AGREES and not _explained(cell) for cell in tried)
    return f"fits {fit} of {len(tried)} cells" + (f", {more} more fits as defined" if more else "")


def _explained(cell: Cell) -> bool:
    other = cell.other
    return other is not None and (
        other.explains(cell.printed, cell.decimals)
        or other.cut_off_explains(cell.printed, cell.decimals)
    )


def _names(parts: list[Part]) -> str:
    """Return the names of parts, tables by their numbers: tables 9, 18, 19."""
    numbers = [part.name.removeprefix("table ") for part in parts]
    if len(parts) > 1 and all(number.isdigit() for number in numbers):
        first, last = int(numbers[0]), int(numbers[-1])
        if [int(number) for number in numbers] == list(range(first, last + 1)):
            return f"tables {first} to {last}"
        return f"tables {', '.join(numbers)}"
    return ", ".join(part.name for part in parts)


def _misprints(*parts: Part) -> RenderableType:
    cells = [(part.name, cell) for part in parts for cell in part.of(Verdict.MISPRINT)]
    return _ByWidth(lambda width: _misprint_lines(cells) if width < WIDE else [_listed(cells)])


def _listed(misprints: list[tuple[str, Cell]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("part", "cell"):
        table.add_column(name, no_wrap=True)
    for name in ("printed", "should be"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for part, cell in misprints:
        table.add_row(
            part,
            f"{cell.row}, {cell.column}",
            Text(cell.shown(cell.printed), style=STYLE[Verdict.MISPRINT]),
            cell.shown(cell.expected().value),
            Text(cell.note, style="dim"),
        )
    return table


def _misprint_lines(misprints: list[tuple[str, Cell]]) -> Iterator[Text]:
    """Yield the same without columns, for a narrow terminal."""
    for part, cell in misprints:
        line = Text(f"{part}, {cell.row}, {cell.column}: ")
        line.append(cell.shown(cell.printed), style=STYLE[Verdict.MISPRINT])
        line.append(f" for {cell.shown(cell.expected().value)}")
        yield line.append(f" ({cell.note})" if cell.note else "", style="dim")


def _sentence(*parts: Part) -> str:
    """Return the counts in a sentence."""
    agree, other, misprints = (sum(part.counts[v] for part in parts) for v in Verdict)
    return (
        f"{agree + other + misprints:,} figures: {agree:,} as defined, "
        f"{other:,} from another computation, "
        f"{misprints:,} misprint{'' if misprints == 1 else 's'}."
    )


def cell_by_cell(part: Part) -> list[RenderableType]:
    """Return a part as printed, as defined and as computed in another way.

    Examples
    --------
    >>> from sureleaf.reproduce import reproduce
    >>> cell_by_cell(reproduce("zhang2024").part("table 1"))[0]
    <text 'Table 1: confidence of one node, by n and p_max' [] 'bold'>
    """
    title = Text(f"{part.name.capitalize()}: {part.title}", style="bold")
    if not part.cells:
        return [title]
    parts: list[RenderableType] = [title, *_versions(part)]
    if part.of(Verdict.MISPRINT):
        parts += [_heading("Misprints"), _misprints(part)]
    return [*parts, "", _sentence(part)]


def _versions(part: Part) -> Iterator[RenderableType]:
    """Yield the grid as printed, and the other two where they differ from it."""

    def as_printed(cell: Cell) -> Text:
        return Text(cell.shown(cell.printed) + MARK[cell.verdict], style=STYLE[cell.verdict])

    def as_defined(cell: Cell) -> Text:
        return Text(cell.shown(cell.defined.value) + " ")

    def otherwise(cell: Cell) -> Text:
        return Text("" if cell.other is None else cell.shown(cell.other.value) + " ")

    marked = [v for v in Verdict if v is not Verdict.AGREES and part.of(v)]
    legend = "".join(f"   {MARK[verdict]} {verdict}" for verdict in marked)
    yield Text("\nAs printed").append(legend, style="dim")
    yield _grid(part.cells, as_printed)
    if marked:
        yield Text("\nAs defined: ").append(part.definition, style="dim")
        yield _grid(part.cells, as_defined)
    if any(cell.other is not None for cell in part.cells):
        yield Text("\nOther computation: ").append(part.other_computation, style="dim")
        yield _grid(part.cells, otherwise)


def _grid(cells: Iterable[Cell], shown: Callable[[Cell], Text]) -> RenderableType:
    """Return cells by row and column; columns that do not fit the width go below the others."""
    rows: dict[str, dict[str, Text]] = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.column] = shown(cell)
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    texts = [len(text) for row in rows.values() for text in row.values()]
    column_width = 3 + max(max(texts), *map(len, columns))

    def blocks(width: int) -> Iterator[Table]:
        fit = max(1, (width - 3 - max(map(len, rows))) // column_width)
        for first in range(0, len(columns), fit):
            yield _block(rows, columns[first : first + fit])

    return _ByWidth(blocks)


def _block(rows: dict[str, dict[str, Text]], columns: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(f"{column} ", justify="right", no_wrap=True)
    for name, row in rows.items():
        table.add_row(Text(name, style="dim"), *(row.get(column, "") for column in columns))
    return table


class _ByWidth:
    """What is shown, as a function of the width there is."""

    def __init__(self, shown: Callable[[int], Iterable[RenderableType]]) -> None:
        self.shown = shown

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterable[RenderableType]:
        return self.shown(options.max_width)
