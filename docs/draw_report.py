"""Draw README's picture of a report.

`make pictures` draws the first screen in a real browser; this needs Chromium and what
`pip install "sureleaf[test]"` installs.
"""

import io
import shutil
import sys
import tempfile
from pathlib import Path

from pyarrow import csv

from sureleaf.report import Origin, make_report

ROOT = Path(__file__).resolve().parents[1]
DATA, TARGET = ROOT / "examples" / "credit-g.csv", "class"
COLOURS = 160  # a page of text looks the same, with a third of the bytes


def report(page: Path) -> None:
    """Write the report of the example."""
    table = csv.read_csv(DATA, convert_options=csv.ConvertOptions(strings_can_be_null=True))
    origin = Origin(
        TARGET,
        source=DATA.name,
        command=f"sureleaf report {DATA.name} --target class --label bad=default "
        "--label good=repaid --cost '0,200;100,0' --unit €",
    )
    X, y = table.drop_columns([TARGET]), table[TARGET].to_pylist()
    labels = {"bad": "default", "good": "repaid"}
    made = make_report(X, y, cost=[[0, 200], [100, 0]], labels=labels, unit="€", origin=origin)
    made.to_html(page)


def picture(page: Path) -> bytes:
    """Return the first screen as PNG."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 1240, "height": 1100}, device_scale_factor=1.5)
        shown.goto(page.as_uri())
        answer = shown.locator("#answer").bounding_box()
        height = answer["y"] + answer["height"] + 24
        clip = {"x": 0, "y": 0, "width": 1240, "height": height}
        png = shown.screenshot(clip=clip, full_page=True)
        browser.close()
    small = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        report(page)
        sys.stdout.buffer.write(picture(page))
