"""sureleaf fit and sureleaf predict: what is written is what the library says."""

import gzip
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import sureleaf
from sureleaf.cli import main
from sureleaf.table import read_file, row_stream, stream_rows
from tests.cli.command import SURELEAF, run

N_ROWS = 2000


def make_rows(n: int = N_ROWS) -> pa.Table:
    """Codes that look like numbers in most rows, words, gaps and a column that comes late."""
    rng = np.random.default_rng(1)
    size = rng.normal(size=n).round(3)
    code = rng.integers(1, 4, n).astype(str).astype(object)
    code[-20:] = "x"
    late = np.where(np.arange(n) < n - 50, np.nan, size)
    label = np.where(size + (code == "2") + rng.normal(size=n) > 0.3, "yes", "no")
    return pa.table(
        {
            "id": [f"{place:05}" for place in range(n)],
            "size": pa.array(np.where(rng.random(n) < 0.05, np.nan, size), from_pandas=True),
            "code": pa.array(code, pa.string()),
            "late": pa.array(late, from_pandas=True),
            "class": label,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fit")
    pa.csv.write_csv(make_rows(), place / "rows.csv")
    with pytest.raises(SystemExit):
        main(
            ["fit", str(place / "rows.csv"), "-t", "class", "--drop", "id", "-o", str(place / "m")]
        )
    return place


@pytest.fixture(scope="module")
def model(folder: Path) -> sureleaf.TreeClassifier:
    return sureleaf.load(folder / "m")


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of blocks in a file of kilobytes."""
    monkeypatch.setattr(row_stream, "_BLOCK", 1 << 10)
    monkeypatch.setattr(row_stream, "_BATCH_ROWS", 7)


def check(found: pa.Table, model: Any, rows: pa.Table) -> None:
    X = rows.select(list(model.schema_.names))
    levels = model.predict_levels(X)
    assert found["prediction"].to_pylist() == levels.prediction.tolist()
    stated = np.column_stack([found[f"p_{label}"].to_numpy() for label in model.classes_])
    np.testing.assert_array_equal(stated, model.predict_proba(X))
    np.testing.assert_array_equal(found["confidence"].to_numpy(), levels.confidence)
    np.testing.assert_array_equal(found["utility"].to_numpy(), levels.utility)
    assert found["leaf"].to_pylist() == levels.leaf.tolist()


def test_fit_saves_the_model_that_the_library_fits(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--criterion", "gini", "--max-depth", 3, "--min-samples-leaf", 9, "--drop", "id"]
    options += ["--pruning", "none", "--leaf-estimate", "laplace", "--categorical-split", "subset"]
    path = tmp_path / "m.sureleaf"
    code, out, _ = run(
        capsys, "fit", folder / "rows.csv", "-t", "class", "-o", path, *options, "--json"
    )
    rows = make_rows()
    expected = sureleaf.TreeClassifier(
        criterion="gini",
        max_depth=3,
        min_samples_leaf=9,
        pruning=None,
        leaf_estimate="laplace",
        categorical_split="subset",
        random_state=0,
    ).fit(rows.drop_columns(["id", "class"]), rows["class"])
    assert code == 0
    assert sureleaf.load(path).rules() == expected.rules()
    said = json.loads(out)
    assert said["leaves"] == expected.tree_.n_leaves
    assert said["utility"] == expected.levels().utility
    assert said["saved"] == str(path)
    assert said["columns"] == ["size", "code", "late"]


def test_fit_tells_a_person_what_to_expect(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["fit", folder / "rows.csv", "-t", "class", "--drop", "id", "-o", tmp_path / "m"]
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert "trained on 2,000 rows and 3 columns to predict class" in out
    code, out, _ = run(capsys, *arguments, "--bagged", "3")
    assert "3 bagged trees, trained on 2,000 rows" in out
    assert len(sureleaf.load(tmp_path / "m").trees_) == 3


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("data", ["rows.csv", "rows.parquet", "rows.arrow", "rows.csv.gz"])
@pytest.mark.parametrize("output", ["out.csv", "out.parquet", "out.arrow", "out.csv.gz"])
def test_predictions_do_not_depend_on_formats_or_on_which_rows_come_together(
    data: str,
    output: str,
    folder: Path,
    model: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = make_rows()
    path = tmp_path / data
    if data.endswith("parquet"):
        pa.parquet.write_table(rows, path)
    elif data.endswith("arrow"):
        pa.feather.write_feather(rows, path)
    else:
        text = (folder / "rows.csv").read_bytes()
        path.write_bytes(gzip.compress(text) if data.endswith("gz") else text)
    code, out, err = run(
        capsys, "predict", folder / "m", path, "-o", tmp_path / output, "--keep", "id"
    )
    assert (code, err) == (0, "")
    assert out.startswith("2,000 rows predicted: no ")
    written = tmp_path / output
    found = read_file(written, text_columns=["id"]) if "csv" in output else read_file(written)
    assert found["id"].to_pylist() == rows["id"].to_pylist()
    check(found, model, rows)


def test_bagged_trees_say_how_they_agree(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bag.sureleaf"
    run(capsys, "fit", folder / "rows.csv", "-t", "class", "-o", path, "--bagged", 3, "--id", "id")
    run(capsys, "predict", path, folder / "rows.csv", "-o", tmp_path / "out.parquet")
    found, model = read_file(tmp_path / "out.parquet"), sureleaf.load(path)
    levels = model.predict_levels(make_rows().select(["size", "code", "late"]))
    assert found.column_names == ["prediction", "p_no", "p_yes", "agreement", "utility"]
    assert found["prediction"].to_pylist() == levels.prediction.tolist()
    np.testing.assert_array_equal(found["agreement"].to_numpy(), levels.agreement)
    np.testing.assert_array_equal(found["utility"].to_numpy(), levels.utility)


def test_rows_that_are_not_sure_enough_get_no_prediction(
    folder: Path, model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.parquet"
    code, out, _ = run(
        capsys,
        *["predict", folder / "m", folder / "rows.csv", "-o", path],
        *["--abstain-below", "0.999", "--json"],
    )
    assert code == 0
    expected = model.predict_or_abstain(
        make_rows().select(["size", "code", "late"]), min_confidence=0.999
    )
    assert read_file(path)["prediction"].to_pylist() == expected.tolist()
    said = json.loads(out)
    n_abstained = sum(label is None for label in expected)
    assert 0 < said["abstained"] == n_abstained < N_ROWS
    assert sum(said["predictions"].values()) == said["rows"] - n_abstained == N_ROWS - n_abstained


def test_categories_that_were_not_there_in_training_are_counted_and_told(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.csv").write_text("size,code,late\n1,y,\n2,1,\n3,z,\n")
    arguments = ["predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "out.csv"]
    code, _, err = run(capsys, *arguments)
    assert code == 0
    assert err.startswith("sureleaf: note: 2 values of column 'code' were not in the training rows")
    assert json.loads(run(capsys, *arguments, "--json")[1])["unseen"] == {"code": 2}


def test_a_header_without_rows_gives_a_header_without_rows(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.csv").write_text("size,code,late,id\n")
    code, _, _ = run(
        capsys, "predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "o.csv", "--keep=id"
    )
    assert code == 0
    header = '"id","prediction","p_no","p_yes","confidence","utility","leaf"\n'
    assert (tmp_path / "o.csv").read_text() == header


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("sizes,code,late\n1,1,\n", [], "must have the column 'size', as the rows of the fit had."),
        ("size,code,late\n1,1,\nbig,1,\n", [], "column 'size' of new.csv must hold numbers"),
        ("size,code,late\n1,1,\n1,1\n", [], "every row of new.csv must have 3 cells"),
        ("size,code,late\n1,1,\n", ["--keep", "idd"], "must have the column 'idd' to be kept"),
        ("size,code,late,leaf\n1,1,,2\n", ["--keep", "leaf"], "--keep must not name a column that"),
        ("size,code,late\n1,1,\n", ["-o", "out.xls"], "--output must end in .csv, .csv.gz, .par"),
        ("size,code,late\n1,1,\n", ["--abstain-below", "95"], "--abstain-below must be from 0 to"),
    ],
)
def test_what_is_wrong_leaves_no_file(
    text: str,
    options: list[str],
    said: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("new.csv").write_text(text)
    code, out, err = run(capsys, "predict", folder / "m", "new.csv", "-o", "out.csv", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert os.listdir() == ["new.csv"]


def test_json_and_predictions_do_not_mix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "predict", folder / "m", folder / "rows.csv", "--json")
    assert (code, out) == (2, "")
    assert "--json needs --output" in err


def lines(n: int) -> Iterator[bytes]:
    yield b"size,code,late,rest\n"
    block = b"".join(b"%d.5,%d,,%s\n" % (i, i % 3, b"x" * 80) for i in range(1000))
    for _ in range(n // 1000):
        yield block


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_memory_does_not_grow_with_the_rows(model: Any, tmp_path: Path) -> None:
    pipe, n_rows = tmp_path / "pipe", 600_000

    def pour() -> None:
        with pipe.open("wb") as file:
            file.writelines(lines(n_rows))

    os.mkfifo(pipe)
    thread = threading.Thread(target=pour)
    thread.start()
    before, held, n_seen = pa.total_allocated_bytes(), [], 0
    for rows in stream_rows(pipe, model.schema_).batches:
        n_seen += rows.num_rows
        held.append(pa.total_allocated_bytes() - before)
    thread.join()
    assert n_seen == n_rows
    assert len(held) > 10
    half = len(held) // 2
    assert max(held[half:]) <= 1.5 * max(held[:half])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "sureleaf: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_a_stopped_prediction_leaves_no_file(
    number: int, code: int, said: str, folder: Path, tmp_path: Path
) -> None:
    pipe, out = tmp_path / "pipe", tmp_path / "out"
    os.mkfifo(pipe)
    out.mkdir()
    command = [SURELEAF, "predict", str(folder / "m"), str(pipe), "-o", str(out / "new.csv")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        with pipe.open("wb") as file:
            file.writelines(lines(200_000))
            file.flush()
            while not any(path.stat().st_size for path in out.iterdir()):
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(number)
        assert process.stderr is not None
        told = process.stderr.read()
    assert (process.returncode, told) == (code, said)
    assert list(out.iterdir()) == []


def test_standard_input_goes_to_standard_output_until_nobody_reads(folder: Path) -> None:
    reader = f"head -n 3; cat {folder / 'rows.csv'} > /dev/null"
    done = subprocess.run(
        f"{SURELEAF} predict {folder / 'm'} - --keep id < {folder / 'rows.csv'} | ({reader})",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == [
        '"id"',
        '"00000"',
        '"00001"',
    ]
