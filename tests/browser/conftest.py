"""The page in a real browser: one Chromium, no network, and no error goes unseen."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sureleaf.report.html import render_audit, render_page
from sureleaf.report.html.page import render_study

Show = Callable[..., Any]

RENDERED: dict[str, Callable[[dict[str, Any]], str]] = {
    "sureleaf-report": render_page,
    "sureleaf-audit": render_audit,
    "sureleaf-study": lambda document: render_study(document, document["answer"]),
}

# Every context is a window of its own, and a window loads a page for the suggestions under its
# address bar. There is no graphics card either.
LEAN = ["--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup", "--disable-gpu"]

VIEWPORT = {"width": 1280, "height": 860}
# Smooth scrolling is only waited for; test_looks.py has a page that moves.
MEDIA = {"media": "screen", "color_scheme": "light", "reduced_motion": "reduce"}


def chromium() -> str | None:
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next((path for path in found if path), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    path = chromium()
    if path is None:
        pytest.skip("no Chromium is installed (Debian: apt-get install chromium)")
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium's sandbox refuses root
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=path, args=[*LEAN, *(["--no-sandbox"] if root else [])]
        )
        yield running
        running.close()


@pytest.fixture(scope="session")
def windows(browser: Any) -> Iterator[Callable[[bool], Any]]:
    """The page with scripts, and the one without: opening a window takes longer than a page."""
    pages: dict[bool, Any] = {}

    def window(has_scripts: bool) -> Any:
        if has_scripts not in pages:
            pages[has_scripts] = browser.new_context(java_script_enabled=has_scripts).new_page()
        return pages[has_scripts]

    yield window
    for page in pages.values():
        page.context.close()


@pytest.fixture
def show(
    windows: Callable[[bool], Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Show]:
    """Open a document in place of the last; no page may have complained or asked for anything."""
    pages: set[Any] = set()
    problems: list[str] = []

    def note(message: Any) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"{message.type}: {message.text}")

    def note_error(error: Any) -> None:
        problems.append(str(error))

    def guard(route: Any) -> None:
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            problems.append(f"asked for {route.request.url}")
            route.abort()

    def open_page(
        document: dict[str, Any],
        *,
        viewport: dict[str, int] = VIEWPORT,
        java_script_enabled: bool = True,
        **media: str,
    ) -> Any:
        kind = document["schema"].split("/")[0]
        # A page of the same address is loaded in the same process.
        file = tmp_path_factory.getbasetemp() / "page.html"
        file.write_text(RENDERED[kind](document), encoding="utf-8")
        page = windows(java_script_enabled)
        if page not in pages:
            pages.add(page)
            page.route("**/*", guard)
            page.on("console", note)
            page.on("pageerror", note_error)
        page.set_viewport_size(viewport)
        page.emulate_media(**MEDIA | media)
        page.mouse.move(0, 0)
        page.goto(file.as_uri())
        return page

    yield open_page
    for page in pages:
        page.unroute_all()
        page.remove_listener("console", note)
        page.remove_listener("pageerror", note_error)
    assert problems == []
