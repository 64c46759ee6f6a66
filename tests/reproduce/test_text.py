import pytest
from rich.console import Console, RenderableType

from sureleaf.reproduce import reproduce
from sureleaf.reproduce.text import part_text, summary_text

DOCUMENT = reproduce("zhang2024")


def rendered(parts: list[RenderableType], columns: int) -> str:
    console = Console(width=columns, color_system=None, highlight=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return captured.get()


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_the_summary_fits_the_terminal_and_loses_no_count(columns: int) -> None:
    shown = rendered(summary_text(DOCUMENT), columns)
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= columns
    lines = {" ".join(line.split()) for line in shown.splitlines()}
    for part in DOCUMENT.parts:
        counts = " ".join(f"{count}" if count else "·" for count in part.counts.values())
        wanted = f"{part.name} {len(part.cells)} {counts}"
        assert any(line.startswith(wanted) for line in lines), wanted


@pytest.mark.parametrize("columns", [40, 60, 100])
@pytest.mark.parametrize("name", [part.name for part in DOCUMENT.parts])
def test_a_part_fits_the_terminal_and_shows_every_cell(name: str, columns: int) -> None:
    part = DOCUMENT.part(name)
    shown = rendered(part_text(part), columns)
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= columns
    assert "…" not in shown
    for cell in part.cells:
        assert cell.format(cell.printed) in shown


def test_every_misprint_is_listed_with_what_it_should_be() -> None:
    shown = [" ".join(line.split()) for line in rendered(summary_text(DOCUMENT), 120).splitlines()]
    assert "table 4, n = 50, (.9, .9): .8941 instead of .9841" in shown
    assert "table 8, n = 10, (.6, .6): .5516 instead of .5316" in shown
    assert "example 2, mle, p_max: .7134 instead of .7143" in shown
