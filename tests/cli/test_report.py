"""sureleaf report, and the gate that compares two reports, run in this process."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sureleaf import InvalidArgumentError, load
from sureleaf.cli import main
from sureleaf.cli.report import page_path
from tests.cli.command import refused, run
from tests.report.document_check import check_document


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = ["size,colour,site,mass,id,class"]
    for i in range(60):
        label = "" if i in (7, 8) else ("no", "yes")[i % 3 == 0]
        lines.append(
            f"{i % 3 * 2 + i / 40:.3f},{'rgb'[i % 3 * (i % 2)]},s{i // 3},{1 + i % 2},k{i},{label}"
        )
    path = tmp_path_factory.mktemp("report") / "rows.v2.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def report_json(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.json"
    with pytest.raises(SystemExit) as stop:
        main(
            ["report", str(data), "--target", "class", "--json", str(path), "--group", "site",
             "--weight", "mass", "--drop", "id", "--positive", "no", "--cost", "0,1;5,0",
             "--seed", "3", "--confidence", "0.9"]
        )  # fmt: skip
    assert not stop.value.code
    return path


def test_every_option_is_in_the_json_of_the_report(report_json: Path, data: Path) -> None:
    document = json.loads(report_json.read_text(encoding="utf-8"))
    check_document(document)
    assert document["data"]["source"] == data.name
    assert document["data"]["rows"] == 58
    assert document["data"]["rows_left_out"] == 2
    assert document["data"]["groups"] == "site"
    assert document["data"]["weights"] == "mass"
    assert [c["name"] for c in document["data"]["columns"]] == ["size", "colour", "id"]
    assert document["data"]["columns"][-1]["kind"] == "left out"
    assert document["quality"]["positive"] == 0
    assert document["quality"]["cost"] == [[0, 1], [5, 0]]
    assert document["provenance"]["seed"] == 3
    assert document["tree"]["wanted"] == {"level": 0.95, "confidence": 0.9, "utility": None}
    assert len(document["provenance"]["data_sha256"]) == 64
    assert document["methods"]["repeat"] == (
        "sureleaf report rows.v2.csv --target class --json report.json --confidence 0.9"
        " --seed 3 --positive no --cost '0,1;5,0'"
        " --group site --weight mass --drop id"
    )


def test_the_gate_passes_an_equal_tree_and_fails_a_worse_one(report_json, data, tmp_path, capsys):
    code, out, _ = run(capsys, "compare", report_json, report_json, data, "--gate")
    assert code == 0
    assert "decided_cost" in out
    assert out.splitlines()[-1] == "Gate: passed (not shown to be worse)"
    rows = tmp_path / "clear.csv"
    rows.write_text("x,class\n" + "".join(f"{i},{'yes' if i > 40 else 'no'}\n" for i in range(99)))
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    for path, option in ((good, "--seed=0"), (bad, "--max-leaves=1")):
        assert run(capsys, "report", rows, "-t", "class", "--json", path, option)[0] == 0
    code, out, _ = run(capsys, "compare", good, bad, rows, "--gate", "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["gate"]) == (1, "worse", "failed")
    code, out, _ = run(capsys, "compare", good, bad, rows, "--gate", "--margin", "0.02")
    assert code == 1
    assert out.splitlines()[-1] == "Gate: failed (worse by more than 0.02)"
    code, out, _ = run(capsys, "compare", good, bad, rows)  # without --gate, it is only reported
    assert code == 0
    assert "Gate" not in out
    assert run(capsys, "compare", good, bad, rows, "--gate", "--margin", "0.9")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "class", "--cost", "0,1,2;3,4,5"], "got 2 rows of 3."),
        (["--target", "class", "--cost", "0,5"],
         "--cost needs 2 rows of 2 numbers: actual no, yes by predicted no, yes; got 1 row of 2."),
        (["--target", "class", "--margin", "-1"], "margin must be"),
        (["--target", "site", "--group", "class"], "--group must have a value in every row"),
        (["--target", "class", "-o", "nowhere/at/all.html"], "no folder"),
        (["--target", "class", "--group", "class"], "another column than the target"),
        (["--target", "class", "--cost", "0,1,2;3"], "got 2 rows of 1 or 3."),
        (["--target", "class", "--json", "nowhere/at/all.json"], "no folder"),
        (["--target", "mass", "--drop", "size", "--drop", "colour", "--drop", "site", "--drop",
          "id", "--drop", "class"], "Drop fewer columns"),
    ],
)  # fmt: skip
def test_errors_are_one_line(arguments, message, data, capsys):
    assert message in refused(capsys, "report", data, *arguments)


def test_the_gate_needs_two_reports(data, report_json, capsys):
    assert "--gate needs two reports and a table" in refused(capsys, "compare", data, "--gate")
    err = refused(capsys, "compare", report_json, report_json, "--gate")
    assert "compared on the same rows: sureleaf compare old.json new.json DATA; got 2 files" in err
    data.with_name("marked.csv").write_bytes(b"\xef\xbb\xbf" + data.read_bytes())
    for path in (data, data.with_name("marked.csv")):
        err = refused(capsys, "compare", report_json, path, data)
        assert f"{path.name} must be a file that sureleaf report --json wrote; got a file" in err


def test_the_page_is_named_after_the_data_unless_only_json_is_requested(data: Path) -> None:
    assert page_path(data, None, None) == Path("rows-report.html")
    assert page_path(data, None, Path("-")) is None
    assert page_path(data, Path("x.html"), Path("-")) == Path("x.html")
    with pytest.raises(InvalidArgumentError, match="must not replace"):
        page_path(data, data, None)
    with pytest.raises(InvalidArgumentError, match="must be different files"):
        page_path(data, Path("x"), Path("x"))


def made(data: Path, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    fixed = ["--target", "class", "--drop", "id", "--drop", "site", "--json", "-"]
    code, out, _ = run(capsys, "report", data, *fixed, *options)
    assert not code
    return json.loads(out)


def test_options_of_the_tree_are_those_of_the_report(data, capsys):
    document = made(data, capsys, "--max-leaves", "2", "--margin", "0")
    check_document(document)
    assert document["tree"]["n_leaves"] <= 2
    assert document["models"]["margin"] == 0
    c45 = made(data, capsys, "--tree", "c45")
    assert "A C4.5 tree" in c45["methods"]["definitions"][0]["text"]
    assert "--tree c45" in c45["provenance"]["command"]
    named = made(data, capsys, "--model", "TreeClassifier.c45(max_depth=1)")
    assert named["tree"]["depth"] <= 1


def test_a_saved_tree_is_reported_as_it_is(data, tmp_path, capsys):
    path = tmp_path / "short.sureleaf"
    options = ["--target", "class", "--drop", "id", "--drop", "site", "--tree", "max_depth=1"]
    assert not run(capsys, "fit", data, *options, "-o", path)[0]
    document = made(data, capsys, "--model", str(path))
    assert document["tree"]["rules"] == load(path).rules()
    assert str(tmp_path) not in document["provenance"]["command"]


def test_a_report_and_fit_say_the_same_of_the_same_tree(data, tmp_path, capsys):
    options = ["--target", "class", "--drop", "id", "--drop", "site", "--seed", "2"]
    _, reported, _ = run(
        capsys, "report", data, *options, "-o", tmp_path / "r.html", "--save-model",
        tmp_path / "a.sureleaf", "--one-page",
    )  # fmt: skip
    _, fitted, _ = run(capsys, "fit", data, *options, "-o", tmp_path / "b.sureleaf")
    expected = re.search(r"expected to (predict [\d.]+ % of unseen rows)", " ".join(fitted.split()))
    assert expected.group(1) in " ".join(reported.split())
    assert load(tmp_path / "a.sureleaf").rules() == load(tmp_path / "b.sureleaf").rules()
