"""The page in a real browser: one Chromium, no network, and no error goes unseen."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sureleaf.report.html import render_audit, render_page

Show = Callable[..., Any]

# Every context is a window of its own, and a window loads a page for the suggestions under its
# address bar: half of the time of a test. There is no graphics card either.
LEAN = ["--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup", "--disable-gpu"]

# Smooth scrolling is only waited for; test_looks.py has a page that moves.
PAGE = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce"}


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


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Show]:
    """Open documents as pages; afterwards no page may have complained or asked for anything."""
    contexts: list[Any] = []
    problems: list[str] = []

    def note(message: Any) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"{message.type}: {message.text}")

    def guard(route: Any) -> None:
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            problems.append(f"asked for {route.request.url}")
            route.abort()

    def open_page(document: dict[str, Any], **options: Any) -> Any:
        file = tmp_path / f"page-{len(contexts)}.html"
        is_audit = document["schema"].startswith("sureleaf-audit/")
        drawn = render_audit(document) if is_audit else render_page(document)
        file.write_text(drawn, encoding="utf-8")
        context = browser.new_context(**PAGE | options)
        contexts.append(context)
        context.route("**/*", guard)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
