"""The documentation site builds without a warning, works offline, and its links lead somewhere."""

import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""Elements that a browser loads by itself, and the attribute with the address."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sphinx", reason="pip install 'sureleaf[docs]'")
    fcntl = pytest.importorskip("fcntl", reason="locks of files")
    folder = tmp_path_factory.mktemp("site")
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(folder / "doctrees")]
    # The pages of the reference are written into docs/, so processes must build in turn.
    with (tmp_path_factory.getbasetemp().parent / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = subprocess.run(
            [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "html")],
            capture_output=True,
            text=True,
            check=False,
        )
    assert made.returncode == 0, made.stderr
    return folder / "html"


class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {given.get("id") or "", given.get("name") or ""}
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag in LOADED and given.get(LOADED[tag]):
            self.loaded.append(str(given[LOADED[tag]]))


read_page = cache(Page)


def pages(site: Path) -> list[Path]:
    """Return the pages of the site, without templates of the theme and the report inside a page."""
    found = sorted(site.rglob("*.html"))
    return [p for p in found if "_static" not in p.parts and p.name != "sample-report.html"]


@pytest.mark.slow
def test_every_internal_link_leads_to_a_page_and_an_anchor(site: Path) -> None:
    lost = []
    for page in pages(site):
        for link in [*read_page(page).links, *read_page(page).loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            anchor = unquote(parts.fragment)
            if not target.exists() or (
                anchor and target.suffix == ".html" and anchor not in read_page(target).anchors
            ):
                lost.append((page.relative_to(site), link))
    assert not lost


@pytest.mark.slow
def test_no_page_loads_anything_from_the_network(site: Path) -> None:
    for page in pages(site):
        assert not [one for one in read_page(page).loaded if re.match(r"(https?:)?//", one)], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


@pytest.mark.slow
def test_the_first_page_shows_a_report_that_needs_no_network(site: Path) -> None:
    first, report = site / "index.html", site / "sample-report.html"
    assert "sample-report.html" in read_page(first).loaded
    assert not [one for one in read_page(report).loaded if one.startswith("http")]
    assert "credit-g.csv" in report.read_text(encoding="utf-8")


def test_the_guide_for_programs_lists_pages_that_exist() -> None:
    text = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([\w/-]+)\.html\)", text)
    assert len(linked) > 20
    for page in linked:
        assert (ROOT / "docs" / f"{page}.md").exists(), page


def test_the_reference_has_every_public_name() -> None:
    import sureleaf
    from sureleaf import designs, levels, measures, plots

    text = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", text, flags=re.MULTILINE))
    modules = {"comparison", "designs", "levels", "measures", "plots", "report", "__version__"}
    wanted = set(sureleaf.__all__) - modules
    for module in (designs, levels, measures, plots):
        wanted |= set(module.__all__)
    assert wanted <= listed, wanted - listed


def test_every_page_is_listed_by_another_page() -> None:
    docs = ROOT / "docs"
    sources = [page for page in docs.rglob("*.md") if "_generated" not in page.parts]
    listed = {docs / "index.md"}
    for page in sources:
        blocks = re.findall(
            r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        )
        names = re.findall(r"^(?:.*<)?([\w./-]+)>?$", "\n".join(blocks), flags=re.MULTILINE)
        listed |= {(page.parent / f"{name}.md").resolve() for name in names}
    assert set(sources) <= listed, "add to a toctree, such as that of docs/howto/index.md"


def test_no_first_line_of_a_docstring_has_a_footnote_mark() -> None:
    """The tables of the reference show the first line alone, where the mark leads nowhere."""
    for file in (ROOT / "src").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\"\"\"[^\"\n]*\[\d\]_", text), file
