"""sureleaf predict writes the predictions of the library."""

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
from sureleaf.files import CsvFormat, csv_reader, read_file
from sureleaf.table import row_stream
from sureleaf.table.row_stream import stream_rows
from tests.cli.command import SURELEAF, refused, run
from tests.cli.fitted_rows import N_ROWS, make_rows


@pytest.fixture(scope="module")
def model(folder: Path) -> sureleaf.TreeClassifier:
    return sureleaf.load(folder / "m")


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks so small that a file of kilobytes has dozens of them."""
    monkeypatch.setattr(csv_reader, "BLOCK", 1 << 10)
    monkeypatch.setattr(row_stream, "BATCH_ROWS", 41)


def check(predictions: pa.Table, model: Any, rows: pa.Table) -> None:
    X = rows.select(list(model.schema_.names))
    levels = model.predict_levels(X)
    assert predictions["prediction"].to_pylist() == levels.prediction.tolist()
    stated = np.column_stack([predictions[f"p_{label}"].to_numpy() for label in model.classes_])
    np.testing.assert_array_equal(stated, model.predict_proba(X))
    np.testing.assert_array_equal(predictions["confidence"].to_numpy(), levels.confidence)
    np.testing.assert_array_equal(predictions["utility"].to_numpy(), levels.utility)
    assert predictions["leaf"].to_pylist() == levels.leaf.tolist()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("data", ["rows.csv", "rows.parquet", "rows.arrow", "rows.csv.gz"])
@pytest.mark.parametrize("output", ["out.csv", "out.parquet", "out.arrow", "out.csv.gz"])
def test_predictions_do_not_depend_on_formats_or_batches(
    data, output, folder, model, tmp_path, capsys
):
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
    predictions = read_file(written, csv=CsvFormat(text_columns=("id",)))
    assert predictions["id"].to_pylist() == rows["id"].to_pylist()
    check(predictions, model, rows)


def test_predictions_of_bagged_trees_have_agreement(folder, tmp_path, capsys):
    path = tmp_path / "bag.sureleaf"
    run(capsys, "fit", folder / "rows.csv", "-t", "class", "-o", path, "--bagged", 3, "--id", "id")
    run(capsys, "predict", path, folder / "rows.csv", "-o", tmp_path / "out.parquet")
    predictions, model = read_file(tmp_path / "out.parquet"), sureleaf.load(path)
    levels = model.predict_levels(make_rows().select(["size", "code", "late"]))
    assert predictions.column_names == ["prediction", "p_no", "p_yes", "agreement", "utility"]
    assert predictions["prediction"].to_pylist() == levels.prediction.tolist()
    np.testing.assert_array_equal(predictions["agreement"].to_numpy(), levels.agreement)
    np.testing.assert_array_equal(predictions["utility"].to_numpy(), levels.utility)


def test_rows_below_the_confidence_get_no_prediction(folder, model, tmp_path, capsys):
    path = tmp_path / "out.parquet"
    rows = make_rows().select(["size", "code", "late"])
    second = float(np.unique(model.predict_levels(rows).confidence)[1])
    code, out, _ = run(
        capsys,
        *["predict", folder / "m", folder / "rows.csv", "-o", path],
        *["--abstain-below", repr(second), "--json"],
    )
    assert code == 0
    expected = model.predict_or_abstain(rows, min_confidence=second)
    assert read_file(path)["prediction"].to_pylist() == expected.tolist()
    summary = json.loads(out)
    n_abstained = sum(label is None for label in expected)
    assert 0 < summary["abstained"] == n_abstained < N_ROWS
    assert (summary["rows"], sum(summary["predictions"].values())) == (N_ROWS, N_ROWS - n_abstained)


def test_unseen_categories_are_counted_in_a_note(folder, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("size,code,late\n1,y,\n2,1,\n3,z,\n")
    arguments = ["predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "out.csv"]
    code, _, err = run(capsys, *arguments)
    assert code == 0
    assert err.startswith("sureleaf: note: 2 values of column 'code' were not in the training rows")
    assert json.loads(run(capsys, *arguments, "--json")[1])["unseen"] == {"code": 2}


def test_a_file_without_rows_gives_a_file_without_rows(folder, tmp_path, capsys):
    (tmp_path / "new.csv").write_text("size,code,late,id\n")
    code, _, _ = run(
        capsys, "predict", folder / "m", tmp_path / "new.csv", "-o", tmp_path / "o.csv", "--keep=id"
    )
    assert code == 0
    header = '"id","prediction","p_no","p_yes","confidence","utility","leaf"\n'
    assert (tmp_path / "o.csv").read_text() == header


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("sizes,code,late\n1,1,\n", [], "must have the column 'size', which the model was fit"),
        ("size,code,late\n1,1,\nbig,1,\n", [], "column 'size' of new.csv must hold numbers"),
        ("size,code,late\n1,1,\n1,1\n", [], "every row of new.csv must have 3 cells"),
        ("size,code,late\n1,1,\n", ["--keep", "idd"], "must have the column 'idd' to be kept"),
        ("size,code,late,leaf\n1,1,,2\n", ["--keep", "leaf"], "--keep must not name a column that"),
        ("size,code,late\n1,1,\n", ["-o", "out.xls"], "--output must end in .csv, .csv.gz, .par"),
        ("size,code,late\n1,1,\n", ["--abstain-below", "95"], "--abstain-below must be between 0"),
    ],
)
def test_an_error_leaves_no_file(text, options, message, folder, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("new.csv").write_text(text)
    err = refused(capsys, "predict", folder / "m", "new.csv", "-o", "out.csv", *options)
    assert message in err
    assert os.listdir() == ["new.csv"]


def test_json_needs_an_output_file(folder, capsys):
    err = refused(capsys, "predict", folder / "m", folder / "rows.csv", "--json")
    assert "--json needs --output" in err


def lines(n: int) -> Iterator[bytes]:
    yield b"size,code,late,rest\n"
    block = b"".join(b"%d.5,%d,,%s\n" % (i, i % 3, b"x" * 80) for i in range(1000))
    for _ in range(n // 1000):
        yield block


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_memory_does_not_grow_with_the_rows(model: Any, tmp_path: Path) -> None:
    pipe, n_rows = tmp_path / "pipe", 1_000_000

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
    assert max(held) <= n_rows * 90 / 2, "half of the text: a busy machine reads some blocks ahead"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (signal.SIGINT, 130, "sureleaf: interrupted\n"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGHUP, 129, ""),
    ],
)
def test_a_stopped_prediction_leaves_no_file(number, code, message, folder, tmp_path):
    pipe, out = tmp_path / "pipe", tmp_path / "out"
    os.mkfifo(pipe)
    out.mkdir()
    command = [SURELEAF, "predict", str(folder / "m"), str(pipe), "-o", str(out / "new.csv")]
    with subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup ignores some
    ) as process:
        with pipe.open("wb") as file:
            file.writelines(lines(100_000))
            file.flush()
            while not any(path.stat().st_size for path in out.iterdir()):
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(number)
        stderr = process.stderr.read()
    assert (process.returncode, stderr) == (code, message)
    assert list(out.iterdir()) == []


def test_standard_input_is_predicted_to_standard_output_until_the_pipe_is_closed(folder):
    reader = f"head -n 3; cat {folder / 'rows.csv'} > /dev/null"
    done = subprocess.run(
        f"{SURELEAF} predict {folder / 'm'} - --keep id < {folder / 'rows.csv'} | ({reader})",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    first_cells = [line.split(",")[0] for line in done.stdout.splitlines()]
    assert first_cells == ['"id"', '"00000"', '"00001"']


def test_csv_text_is_no_formula_and_reads_back_exactly_and_a_note_says_so(tmp_path, capsys):
    cells = ["=1+1", "+cmd", "-2", "-x", "@a", "\ttab", "'quoted", "it's", "plain", "1,5"]
    cells += ["\n=1", "＝1+1", "＠x"]  # noqa: RUF001 - the wide signs are meant
    rows = pa.table({"=id": (cells * 4)[:40], "n": list(range(40))})
    sureleaf.TreeClassifier.c45(levels_from="training").fit(
        rows.select(["n"]), ["=no"] * 20 + ["yes"] * 20
    ).save(tmp_path / "m")
    pa.parquet.write_table(rows, tmp_path / "rows.parquet")
    arguments = ("predict", tmp_path / "m", tmp_path / "rows.parquet", "--keep", "=id", "-o")
    code, _, notes = run(capsys, *arguments, tmp_path / "safe.csv")
    assert code == 0
    assert "column 'prediction' has text that a spreadsheet would run: '=no' is written" in notes
    assert "column '=id' has text that a spreadsheet would run: '=1+1' is written" in notes
    code, _, notes = run(capsys, *arguments, tmp_path / "plain.csv", "--formulas")
    assert (code, notes) == (0, "")
    safe, plain = (pa.csv.read_csv(tmp_path / f"{name}.csv") for name in ("safe", "plain"))
    assert plain["=id"].to_pylist() == (cells * 4)[:40]
    assert plain["prediction"].to_pylist() == ["=no"] * 20 + ["yes"] * 20
    written = safe["'=id"].to_pylist()
    is_number = {"-2"}
    assert not [c for c in written if c[0] in "=+-@\t\n\uff1d\uff20" and c not in is_number]
    assert [c[1:] if c[0] == "'" else c for c in written] == (cells * 4)[:40]
    assert safe["prediction"].to_pylist() == ["'=no"] * 20 + ["yes"] * 20


def kept_columns() -> dict[str, tuple[pa.Array, str]]:
    """Columns of odd types, and the kinds of file that can hold them."""
    texts = pa.array(["a", None, "=b"] * 4)
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([6, 12], pa.int32()), pa.array(["a", "b"]))
    codes = pa.array([0, 1, 2] * 4, pa.int8())
    return {
        "list": (pa.array([[1]] * 12), "parquet arrow"),
        "struct": (pa.array([{"a": 1}] * 12), "parquet arrow"),
        "bytes": (pa.array([b"\xff"] * 12), "parquet arrow"),
        "formula in bytes": (pa.array([b"=1+1"] * 12), "csv parquet arrow"),
        "time zone": (pa.array([0] * 12, pa.timestamp("s", "No/Where")), "parquet arrow"),
        "null in a dictionary": (pa.DictionaryArray.from_arrays(codes, texts[:3]), "csv arrow"),
        "runs": (runs, "csv parquet arrow"),
        "views": (pa.array(texts.to_pylist(), pa.string_view()), "csv parquet arrow"),
        "interval": (pa.array([pa.MonthDayNano([1, 1, 1])] * 12), "arrow"),
    }


@pytest.mark.parametrize("name", kept_columns())
def test_a_kept_column_of_an_odd_type_is_written_or_named(name, tmp_path, capsys):
    column, possible = kept_columns()[name]
    rows = pa.table({"n": list(range(12)), name: column})
    sureleaf.TreeClassifier.c45(levels_from="training").fit(
        rows.select(["n"]), ["no", "yes"] * 6
    ).save(tmp_path / "m")
    with pa.ipc.new_file(tmp_path / "rows.arrow", rows.schema) as file:
        file.write_table(rows)
    for kind in ("csv", "parquet", "arrow"):
        out = tmp_path / f"out.{kind}"
        arguments = ("predict", tmp_path / "m", tmp_path / "rows.arrow", "--keep", name, "-o", out)
        code, _, err = run(capsys, *arguments)
        assert out.exists() == (code == 0) == (kind in possible.split())
        if code:
            assert (code, err.count("\n")) == (2, 1)
            assert f"columns that a file of kind {kind} can hold; got {name!r}" in err
        elif kind == "csv":
            assert b'"=' not in out.read_bytes()


@pytest.mark.parametrize("first", [2**53, 2**60])
def test_large_integers_of_a_csv_file_are_predicted_as_at_fit(first, tmp_path, capsys):
    """Rounded to the nearest float64, both values were one, and half of the rows were wrong."""
    rows = [f"{first + row % 2},{'no' if row % 2 else 'yes'}" for row in range(200)]
    data, model = tmp_path / "large.csv", tmp_path / "m"
    data.write_text("\n".join(["account,class", *rows]))
    assert run(capsys, "fit", data, "-t", "class", "-o", model)[0] == 0
    assert run(capsys, "predict", model, data, "-o", tmp_path / "p.csv")[0] == 0
    predicted = pa.csv.read_csv(tmp_path / "p.csv")["prediction"].to_pylist()
    assert predicted == ["no" if row % 2 else "yes" for row in range(200)]


@pytest.mark.parametrize(
    ("chosen", "path"),
    [("mixture", "rows go down all branches of each test"), ("stop", "rows stop where they are")],
)
def test_a_note_says_what_unseen_categories_do(chosen, path, tmp_path, capsys):
    """No test asks for a column that was empty in training: its values send no row anywhere."""
    rows = [f"{'red' if row % 2 else 'blue'},,{row % 2}" for row in range(200)]
    (tmp_path / "old.csv").write_text("\n".join(["colour,empty,class", *rows]))
    (tmp_path / "new.csv").write_text("colour,empty\ngreen,x\nred,y\n")
    options = ["-t", "class", "--tree", f"unseen={chosen}", "-o", tmp_path / "m"]
    assert run(capsys, "fit", tmp_path / "old.csv", *options)[0] == 0
    err = run(capsys, "predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv")[2]
    assert "2 values of column 'empty' were not in the training rows; no test asks for it" in err
    assert f"1 value of column 'colour' was not in the training rows; such {path}" in err
