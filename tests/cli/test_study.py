"""sureleaf study: run, status, resume, verify and report on one small study."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.command import sureleaf_here

STUDY = """
name = "two tables"
measures = ["accuracy", "nce"]
design = { design = "KFold", n_splits = 2 }
[[data]]
name = "first"
path = "first.csv"
target = "class"
[[data]]
name = "second"
path = "second.csv"
target = "class"
[[learners]]
name = "small <tree>"
model = "TreeClassifier(max_leaves=2, n_jobs=1)"
[[learners]]
name = "bayes"
model = "sklearn.naive_bayes.GaussianNB"
[[learners]]
name = "broken"
model = "sklearn.neighbors.KNeighborsClassifier(n_neighbors=1000)"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    for seed, name in enumerate(("first", "second")):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        labels = np.where(X[:, 0] + rng.normal(size=60) > 0, "yes", "no")
        lines = [f"{a:.4f},{b:.4f},{y}" for (a, b), y in zip(X, labels, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,class", *lines, ""]))
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


@pytest.fixture(scope="module")
def finished(study: Path) -> Path:
    before = sureleaf_here("study", "status", str(study))
    assert before.returncode == 2
    assert "nothing was begun. Begin with: sureleaf study run" in " ".join(before.stderr.split())
    assert not study.with_suffix(".db").exists()
    done = sureleaf_here("study", "run", str(study), "--jobs", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "two tables: 8 of 12 fits done, 4 failed" in done.stdout
    text = " ".join(done.stdout.split())
    assert "failed: broken on first, second (4 fits): ValueError: Expected n_neighbors" in text
    assert "Show the results: sureleaf study report" in done.stdout
    return study


def test_the_status_is_known_to_another_process(finished: Path) -> None:
    values = json.loads(sureleaf_here("study", "status", str(finished), "--json").stdout)
    assert (values["done"], values["failed"], values["open"]) == (8, 4, 0)
    (why,) = values["failures"]
    assert (why["learner"], why["data"], why["fits"]) == ("broken", ["first", "second"], 4)
    assert why["reason"].startswith("ValueError")


def test_every_bit_is_verified(finished: Path) -> None:
    done = sureleaf_here("study", "verify", str(finished))
    assert (done.returncode, done.stdout) == (0, "8 of 8 fits are the same to the last bit.\n")


def test_the_page_and_the_json_have_the_same_numbers(finished: Path, tmp_path: Path) -> None:
    page = tmp_path / "study.html"
    done = sureleaf_here("study", "report", str(finished), "-o", str(page))
    assert done.returncode == 0
    assert "average rank" in done.stdout
    assert "Nemenyi's critical difference" in done.stdout
    text = page.read_text()
    values = json.loads(sureleaf_here("study", "report", str(finished), "--json").stdout)
    assert values["schema"] == "sureleaf-study/1"
    assert values["answer"].split(";")[0] in text.replace("&lt;", "<").replace("&gt;", ">")
    assert "small &lt;tree&gt;" in text
    assert "http://" not in text.replace("http://www.w3.org", "").replace("http://www.apache", "")
    accuracy = values["measures"][0]
    assert [row["data"] for row in accuracy["rows"]] == ["first", "second"]
    for row in accuracy["rows"]:
        tree, bayes, broken = row["estimates"]
        assert broken is None
        for one in (tree, bayes):
            assert one["low"] <= one["value"] <= one["high"]
            assert f"{one['value']:.3f}" in text
    assert set(accuracy["ranking"]["names"]) == {"small <tree>", "bayes"}
    pair = accuracy["pairs"][0]
    assert sum(pair["verdicts"].values()) == 2
    assert pair["p_value"] == accuracy["ranking"]["pairs"][0]["adjusted_p_value"]
    assert len(values["failures"]) == 4
    assert "ValueError" in values["failures"][0]["reason"]


def test_a_page_does_not_replace_the_store(finished: Path) -> None:
    store = finished.with_suffix(".db")
    for url in (str(store), f"sqlite:///{store}"):
        done = sureleaf_here("study", "report", str(finished), "--store", url, "-o", str(store))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "must not replace" in done.stderr
    assert store.read_bytes().startswith(b"SQLite format 3")


def test_a_store_that_is_named_wrongly_is_not_made(finished: Path, tmp_path: Path) -> None:
    for command in ("status", "verify", "report"):
        done = sureleaf_here("study", command, str(finished), "--store", str(tmp_path / "typo.db"))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "typo.db does not exist" in done.stderr
    assert list(tmp_path.iterdir()) == []
