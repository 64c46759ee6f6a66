"""Print the lowest versions that pyproject.toml declares, as constraints for pip."""

import re
import sys
import tomllib
from pathlib import Path

PINNED = re.compile(r"([A-Za-z0-9_-]+)(?:\[\w+\])?>=([0-9.]+)")


def lowest_versions(project: dict) -> list[str]:
    extras = project["optional-dependencies"]
    parts = [extras[name] for name in ("plot", "export", "excel", "study", "test")]
    needed = [*project["dependencies"], *(one for part in parts for one in part)]
    found = [match for one in needed if (match := PINNED.match(one))]
    return [f"{match[1]}=={match[2]}.*" for match in found]


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.write("\n".join([*lowest_versions(tomllib.loads(text)["project"]), ""]))
