"""A reproduction as text for a terminal: a summary of the document, or one part cell by cell."""

from collections.abc import Callable, Iterable, Iterator

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sureleaf.commands.terminal import ByWidth
from sureleaf.formatting import upper_first
from sureleaf.reproduce.cells import Basis, CellVerdict, Part, PrintedCell, Reproduction

_STYLES = {CellVerdict.AGREES: "", CellVerdict.OTHER: "yellow", CellVerdict.MISPRINT: "bold red"}
_MARKS = {CellVerdict.AGREES: " ", CellVerdict.OTHER: "~", CellVerdict.MISPRINT: "!"}
_GROUPS = {
    Basis.LIBRARY: "computed by this library's functions",
    Basis.ARITHMETIC: "arithmetic of the document",
}
_WIDE = 96
"""Terminal columns from which the table of a document also says what its parts are."""


# ---- the summary of a document -------------------------------------------------------------------


def summary_text(reproduction: Reproduction) -> list[RenderableType]:
    """Return the counts of every part, the other computations, the misprints and the totals."""
    text: list[RenderableType] = [
        Text(reproduction.source, style="bold"),
        ByWidth(lambda width: [_counts_table(reproduction, width)]),
    ]
    if reproduction.counts[CellVerdict.OTHER]:
        text += [heading("Computed differently from the definition"), _others(reproduction)]
    if reproduction.counts[CellVerdict.MISPRINT]:
        text += [heading("Misprints"), *_misprints(*reproduction.parts)]
    return [*text, "", _totals(reproduction)]


def heading(text: str) -> Text:
    """Return a title above a table."""
    return Text(f"\n{text}", style="bold")


def _counts_table(reproduction: Reproduction, width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False)
    table.add_column("part", "all", no_wrap=True)
    table.add_column("cells", f"{len(reproduction.cells):,}", justify="right", no_wrap=True)
    for verdict, name in zip(CellVerdict, ("agree", "other", "misprint"), strict=True):
        footer = Text(f"{reproduction.counts[verdict]:,}", style=_STYLES[verdict])
        table.add_column(name, footer, justify="right", no_wrap=True)
    if width >= _WIDE:
        table.add_column("what")
    for part in reproduction.parts:
        counts = [
            Text(f"{n}", style=_STYLES[verdict]) if n else Text("·", style="dim")
            for verdict, n in part.counts.items()
        ]
        if width >= _WIDE:
            counts.append(Text(part.title, style="dim"))
        table.add_row(part.name, f"{len(part.cells)}", *counts)
    return table


def _others(reproduction: Reproduction) -> Table:
    """List each other computation once, with the parts that it explains."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(max_width=18)
    table.add_column()
    groups: dict[str, list[Part]] = {}
    for part in reproduction.parts:
        if part.of(CellVerdict.OTHER):
            groups.setdefault(part.other_computation, []).append(part)
    for text, group in groups.items():
        explanation = Text(text).append(f" ({_fit(group)})", style="dim")
        table.add_row(Text(_names(group), style=_STYLES[CellVerdict.OTHER]), explanation)
    return table


def _fit(parts: list[Part]) -> str:
    """Count the cells that the other computation explains, among those it was applied to."""
    cells = [cell for part in parts for cell in part.cells]
    tried = [cell for cell in cells if cell.other is not None]
    if not tried:
        return f"{sum(cell.verdict is CellVerdict.OTHER for cell in cells)} cells"
    n_fit = sum(map(_fits_other, tried))
    n_defined = sum(cell.verdict is CellVerdict.AGREES and not _fits_other(cell) for cell in tried)
    more = f", {n_defined} more fits as defined" if n_defined else ""
    return f"fits {n_fit} of {len(tried)} cells{more}"


def _fits_other(cell: PrintedCell) -> bool:
    other = cell.other
    return other is not None and (
        other.explains(cell.printed, cell.decimals)
        or other.explains_truncated(cell.printed, cell.decimals)
    )


def _names(parts: list[Part]) -> str:
    """Join the names of parts; several tables become "tables 9, 18, 19" or "tables 3 to 8"."""
    numbers = [part.name.removeprefix("table ") for part in parts]
    if len(parts) > 1 and all(number.isdigit() for number in numbers):
        first, last = int(numbers[0]), int(numbers[-1])
        if [int(number) for number in numbers] == list(range(first, last + 1)):
            return f"tables {first} to {last}"
        return f"tables {', '.join(numbers)}"
    return ", ".join(part.name for part in parts)


def _misprints(*parts: Part) -> Iterator[Text]:
    for part in parts:
        for cell in part.of(CellVerdict.MISPRINT):
            line = Text(f"{part.name}, {cell.row}, {cell.column}: ")
            line.append(cell.format(cell.printed), style=_STYLES[CellVerdict.MISPRINT])
            line.append(f" instead of {cell.format(cell.expected().value)}")
            yield line.append(f" ({cell.note})" if cell.note else "", style="dim")


def _totals(reproduction: Reproduction) -> str:
    """Count all figures, then those of each basis."""
    lines = [f"{len(reproduction.cells):,} figures: {_counts_sentence(reproduction.counts)}"]
    for basis, description in _GROUPS.items():
        counts = reproduction.counts_of(basis)
        if any(counts.values()):
            lines.append(f"  {sum(counts.values()):,} {description}: {_counts_sentence(counts)}")
    return "\n".join(lines)


def _counts_sentence(counts: dict[CellVerdict, int]) -> str:
    misprints = counts[CellVerdict.MISPRINT]
    return (
        f"{counts[CellVerdict.AGREES]:,} as defined, "
        f"{counts[CellVerdict.OTHER]:,} from another computation, "
        f"{misprints:,} misprint{'' if misprints == 1 else 's'}."
    )


# ---- one part, cell by cell ----------------------------------------------------------------------


def part_text(part: Part) -> list[RenderableType]:
    """Return a part as printed, as defined, and as the other computation gives it."""
    title = Text(f"{upper_first(part.name)}: {part.title}", style="bold")
    if not part.cells:
        return [title]
    text: list[RenderableType] = [title, *_versions(part)]
    if part.of(CellVerdict.MISPRINT):
        text += [heading("Misprints"), *_misprints(part)]
    return [*text, "", _totals(Reproduction("", "", (part,)))]


def _versions(part: Part) -> Iterator[RenderableType]:
    """Yield the table as printed, and the recomputed tables if they differ from it."""

    def as_printed(cell: PrintedCell) -> Text:
        return Text(cell.format(cell.printed) + _MARKS[cell.verdict], style=_STYLES[cell.verdict])

    def as_other(cell: PrintedCell) -> Text:
        return Text("" if cell.other is None else cell.format(cell.other.value) + " ")

    marked = [v for v in CellVerdict if v is not CellVerdict.AGREES and part.of(v)]
    legend = "".join(f"   {_MARKS[verdict]} {verdict}" for verdict in marked)
    yield Text("\nAs printed").append(legend, style="dim")
    yield _grid(part.cells, as_printed)
    if marked:
        yield Text("\nAs defined: ").append(part.definition, style="dim")
        yield _grid(part.cells, lambda cell: Text(cell.format(cell.defined.value) + " "))
    if any(cell.other is not None for cell in part.cells):
        yield Text("\nOther computation: ").append(part.other_computation, style="dim")
        yield _grid(part.cells, as_other)


def _grid(
    cells: Iterable[PrintedCell], format_cell: Callable[[PrintedCell], Text]
) -> RenderableType:
    """Arrange cells by row and column; columns that do not fit the width follow below."""
    rows: dict[str, dict[str, Text]] = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.column] = format_cell(cell)
    columns = list(dict.fromkeys(column for row in rows.values() for column in row))
    lengths = [len(text) for row in rows.values() for text in row.values()]
    column_width = 3 + max(max(lengths), *map(len, columns))

    def blocks(width: int) -> Iterator[Table]:
        n_fit = max(1, (width - 3 - max(map(len, rows))) // column_width)
        for first in range(0, len(columns), n_fit):
            yield _block(rows, columns[first : first + n_fit])

    return ByWidth(blocks)


def _block(rows: dict[str, dict[str, Text]], columns: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(f"{column} ", justify="right", no_wrap=True)
    for name, row in rows.items():
        table.add_row(Text(name, style="dim"), *(row.get(column, "") for column in columns))
    return table
