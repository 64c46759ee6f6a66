"""What is tried: each target is a function of a random generator and a folder.

It returns what happened in a word, or raises; errors of Sureleaf are what is expected.
"""

import contextlib
import csv as csv_module
import datetime
import functools
import hashlib
import io
import json
import pickle
import sqlite3
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import sureleaf

__all__ = ["TARGETS", "largest_file"]

Target = Callable[[Random, Path], str]

largest_file = 0
"""Bytes of the largest file that the last case has written; memory is compared with it."""


# ---- ways to damage bytes ------------------------------------------------------------------------


def damage(content: bytes, random: Random, *, spare: int = 0) -> bytes:
    """Return the bytes with a flipped bit, other bytes, a part moved, or without their end."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        if len(data) <= spare + 1:
            break
        random.choice(_WAYS)(data, random, spare)
    return bytes(data)


def _flip_bit(data: bytearray, random: Random, spare: int) -> None:
    data[random.randrange(spare, len(data))] ^= 1 << random.randrange(8)


def _set_byte(data: bytearray, random: Random, spare: int) -> None:
    data[random.randrange(spare, len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF))


def _set_number(data: bytearray, random: Random, spare: int) -> None:
    """Overwrite an aligned number by an extreme one."""
    size = random.choice((4, 8))
    start = random.randrange(spare, len(data)) // size * size
    value = random.choice((0, 1, -1, 2**31 - 1, -(2**31), 10**6, 2 ** (8 * size - 1) - 1))
    number = value.to_bytes(size, "little", signed=True)
    data[start : start + size] = number[: len(data) - start]


def _truncate(data: bytearray, random: Random, spare: int) -> None:
    del data[random.randrange(spare, len(data)) :]


def _delete(data: bytearray, random: Random, spare: int) -> None:
    start = random.randrange(spare, len(data))
    del data[start : start + random.choice((1, 2, 8, 64))]


def _repeat(data: bytearray, random: Random, spare: int) -> None:
    start = random.randrange(spare, len(data))
    data[start:start] = data[start : start + random.choice((1, 8, 64))]


_WAYS = (_flip_bit, _flip_bit, _flip_bit, _set_byte, _set_number, _truncate, _delete, _repeat)


# ---- what is damaged, and how it is used ---------------------------------------------------------


def _written(path: Path, content: bytes) -> Path:
    global largest_file
    path.write_bytes(content)
    largest_file = max(largest_file, len(content))
    return path


@functools.cache
def _rows() -> Any:
    """A small table with every kind of column."""
    import pyarrow as pa

    random = Random(1)
    n = 60
    words = ["a", "bb", "ccc", None, "dddd dddd dddd"]
    return pa.table(
        {
            "size": [None if i % 11 == 3 else random.random() for i in range(n)],
            "count": pa.array([random.randrange(9) for _ in range(n)], pa.int16()),
            "word": [random.choice(words) for _ in range(n)],
            "code": pa.array([random.choice(words) for _ in range(n)]).dictionary_encode(),
            "flag": [random.random() < 0.5 for _ in range(n)],
            "day": [datetime.date(2020, 1, 1 + i % 28) for i in range(n)],
            "large": pa.array([random.choice(words) for _ in range(n)], pa.large_string()),
            "class": ["yes" if i % 3 else "no" for i in range(n)],
        }
    )


@functools.cache
def _model() -> Any:
    rows = _rows()
    return sureleaf.TreeClassifier(levels_from="training", min_samples_leaf=2, pruning=None).fit(
        rows.drop_columns(["class"]), rows["class"]
    )


def _use_table(path: Path, random: Random) -> str:
    """Fit on the rows of a file, or predict them."""
    from sureleaf.commands.predictions import write_predictions
    from sureleaf.commands.question import read_question
    from sureleaf.table.row_stream import stream_rows

    if random.random() < 0.5:
        question = read_question(path, "class")
        model = sureleaf.TreeClassifier(levels_from="training").fit(question.X, question.y)
        model.leaves()
        return "fitted"
    keep = random.choice(([], ["word"], ["class", "code"]))
    kind = random.choice(("csv", "parquet", "arrow"))
    rows = stream_rows(path, _model().schema_, keep=keep)
    write_predictions(_model(), rows, io.BytesIO(), kind, keep=keep)
    return "predicted"


def arrow(random: Random, folder: Path) -> str:
    """Damaged Arrow streams and files."""
    import pyarrow as pa

    sink = io.BytesIO()
    packed = random.choice((None, None, None, "lz4", "zstd"))
    options = pa.ipc.IpcWriteOptions(compression=packed)
    new = random.choice((pa.ipc.new_stream, pa.ipc.new_file))
    with new(sink, _rows().schema, options=options) as writer:
        writer.write_table(_rows(), max_chunksize=random.choice((17, 60)))
    path = _written(folder / "rows.arrow", damage(sink.getvalue(), random))
    return _use_table(path, random)


def parquet(random: Random, folder: Path) -> str:
    """Damaged Parquet files."""
    from pyarrow import parquet as pq

    sink = io.BytesIO()
    pq.write_table(
        _rows(),
        sink,
        compression=random.choice(("none", "none", "snappy", "zstd", "gzip")),
        use_dictionary=random.random() < 0.5,
        row_group_size=random.choice((20, 60)),
        data_page_version=random.choice(("1.0", "2.0")),
    )
    path = _written(folder / "rows.parquet", damage(sink.getvalue(), random))
    return _use_table(path, random)


def csv(random: Random, folder: Path) -> str:
    """Damaged CSV files, compressed or not."""
    import gzip

    from pyarrow import csv as arrow_csv

    sink = io.BytesIO()
    arrow_csv.write_csv(_rows(), sink)
    content = sink.getvalue()
    if random.random() < 0.3:
        content = content.replace(b",", random.choice((b";", b"\t", b"|", b" ", b"\r\n")))
    if random.random() < 0.2:
        content = content.decode().encode(random.choice(("utf-16", "utf-8-sig", "utf-16-le")))
    content = damage(content, random)
    if random.random() < 0.2:
        content = damage(gzip.compress(content), random)
    return _use_table(_written(folder / "rows.csv", content), random)


@functools.cache
def _workbook() -> bytes:
    import openpyxl

    book, sink = openpyxl.Workbook(), io.BytesIO()
    for row in [_rows().column_names, *zip(*_rows().to_pydict().values(), strict=True)]:
        book.active.append(row)
    book.save(sink)
    return sink.getvalue()


def excel(random: Random, folder: Path) -> str:
    """Damaged workbooks: their archive, or the XML of one of its parts."""
    content = _workbook()
    if random.random() < 0.5:
        return _use_table(_written(folder / "rows.xlsx", damage(content, random)), random)
    sink = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(sink, "w") as new:
        names = old.namelist()
        chosen = random.choice(names)
        for name in names:
            part = old.read(name)
            new.writestr(name, damage(part, random) if name == chosen else part)
    return _use_table(_written(folder / "rows.xlsx", sink.getvalue()), random)


@functools.cache
def _model_file(kind: str) -> bytes:
    rows, labels = _rows().drop_columns(["class"]), _rows()["class"].to_numpy(zero_copy_only=False)
    tree = sureleaf.TreeClassifier(cv=3, min_samples_leaf=2, pruning=None, random_state=0)
    models: dict[str, Any] = {
        "tree": tree,
        "c45": sureleaf.TreeClassifier.c45(cv=3, unseen="stop"),
        "costs": sureleaf.TreeClassifier(cv=3, cost=[[0, 1], [5, 0]], random_state=0),
        "honest": sureleaf.TreeClassifier(levels_from="honest", random_state=0),
        "bag": sureleaf.BaggedTreesClassifier(n_estimators=3, random_state=0),
        "calibrated": sureleaf.BaggedTreesClassifier(
            n_estimators=3, calibration="isotonic", random_state=0
        ),
        "labels": tree,
        "grades": sureleaf.TreeClassifier(
            cv=3,
            categorical_features={"code": ["ccc", "a", "dddd dddd dddd", "bb"]},
            leaf_estimate="shrinkage",
            pruning=None,
        ),
        "moments": tree,
    }
    if kind == "labels":
        labels = np.arange(len(labels)) // 20 + np.datetime64("2024-01-01")
    if kind == "grades":
        rows = rows.select(["code"])
        labels = np.array([text in ("a", "ccc") for text in rows["code"].to_pylist()])
    if kind == "moments":
        rows = _moments()
        labels = np.arange(len(rows)) % 16
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        models[kind].fit(rows, labels).save(path)
        return path.read_bytes()


@functools.cache
def _moments() -> Any:
    """A table of dates and times, each of which a tree of 16 classes tests."""
    import pyarrow as pa

    n = np.arange(160)
    types = {
        "date": pa.date32(),
        "stamp": pa.timestamp("us"),
        "utc": pa.timestamp("us", tz="UTC"),
        "span": pa.duration("us"),
        "time": pa.time64("us"),
    }
    return pa.table(
        {
            name: pa.array((n >> i) & 1, pa.int32() if name == "date" else pa.int64()).cast(kind)
            for i, (name, kind) in enumerate(types.items())
        }
    )


def _sealed(content: bytes) -> bytes:
    """Correct the checksum, so that the damage behind it is met."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def _rows_of(model: Any) -> Any:
    rows = _rows() if "date" not in model.schema_.names else _moments()
    return rows.select([name for name in model.schema_.names if name in rows.column_names])


def _use_model(model: Any, random: Random) -> str:
    rows = _rows_of(model)
    str(model.schema_)
    model.predict_proba(rows)
    model.predict(rows)
    repr(model)
    model.feature_importances_.sum()
    if isinstance(model, sureleaf.TreeClassifier):
        str(model.leaves())
        model.levels()
        forms = ("rules", "json", "sql", "python", "dot", "svg", "onnx")
        uses = [functools.partial(sureleaf.export, model, form) for form in forms]
        uses += [functools.partial(change, model) for change in _CHANGES]
        for use in random.sample(uses, 4):
            with contextlib.suppress(sureleaf.SureleafError):
                use()
    else:
        sureleaf.export(model, "json")
    model.predict_levels(rows)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "again")
        sureleaf.load(Path(folder) / "again").predict(rows)
    return "used"


_CHANGES: tuple[Callable[[Any], Any], ...] = (
    lambda model: model.prune(n_leaves=2).leaves(),
    lambda model: model.prune(rule="cost_complexity", ccp_alpha=0.1).levels(),
    lambda model: model.with_leaf_estimate("laplace").leaves(guarantee="simultaneous"),
    lambda model: model.predict_set(_rows_of(model), alpha=0.2),
    lambda model: pickle.loads(pickle.dumps(model)).leaves(),
    lambda model: sureleaf.from_json(sureleaf.export(model, "json")).leaves(),
    lambda model: sureleaf.audit(model, _rows_of(model), model.predict(_rows_of(model))),
    lambda model: model.decision_path(_rows_of(model)),
)


_KINDS = ("tree", "c45", "costs", "honest", "bag", "calibrated", "labels", "grades", "moments")


def models(random: Random, folder: Path) -> str:
    """Damaged files of models; most have a correct checksum."""
    content = _model_file(random.choice(_KINDS))
    way = random.random()
    if way < 0.4:
        for _ in range(random.choice((1, 1, 2))):
            content = _other_header(content, random)
    elif way < 0.7:
        for _ in range(random.choice((1, 1, 2))):
            content = _other_array(content, random)
    else:
        content = damage(content, random)
    content = _sealed(content) if random.random() < 0.95 else content
    path = _written(folder / "m.sureleaf", content)
    return _use_model(sureleaf.load(path), random)


def _other_array(content: bytes, random: Random) -> bytes:
    """Replace numbers of an array of a container by numbers that may be possible."""
    size = int.from_bytes(content[24:32], "little")
    start, places = 32 + size, []
    for entry in json.loads(content[32:start])["arrays"]:
        dtype, length = np.dtype(entry["dtype"]), int(np.prod(entry["shape"]))
        places += [(dtype, length, start)] if length else []
        start += -(-length * dtype.itemsize // 8) * 8
    dtype, length, start = random.choice(places)
    array = np.frombuffer(content, dtype, length, start).copy()
    values = _ODD_FLOATS if dtype.kind == "f" else (0, -1, 1, 2, 3, 5, 7, 100, length)
    for _ in range(random.choice((1, 1, 2, length))):
        index = random.randrange(length)
        new = random.choice((array[random.randrange(length)], random.choice(values)))
        array[index] = np.array(new).astype(dtype)
    return content[:start] + array.tobytes() + content[start + array.nbytes :]


def _other_header(content: bytes, random: Random) -> bytes:
    """Replace a value in the JSON header of a container."""
    size = int.from_bytes(content[24:32], "little")
    header = json.loads(content[32 : 32 + size])
    text = json.dumps(_changed(header, random)).encode()
    text += b" " * (-len(text) % 8)
    return content[:24] + len(text).to_bytes(8, "little") + text + content[32 + size :]


_ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2, 10**6, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, 5e-324, "", "a", "\x1b",
    "\ud800", "x" * 5000, [], {}, [[]], [None], {"a": 1}, [[[[[[]]]]]], 10**400, -(2**63), 2**64,
    "<M8[D]", "<M8[ns]", "<m8[7s]", "<f2", "|b1", "<U3", "µ", "\u0663", "\0", "12:00", "2024-02-29",
    "nan", "date", "timestamp", "text", "text objects", "integers", "times", "laplace", "frequency",
    {"float": "inf"}, {"mapping": [[1, 2]]}, {"schema": {"named": True, "columns": []}},
)  # fmt: skip


def _changed(value: Any, random: Random) -> Any:
    """Return JSON values with an odd one somewhere, or without one of them."""
    if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.4:
        return random.choice(
            (value + 1, -value, 2 * value, value // 3, value - 0.5 if abs(value) < 2**60 else 7)
        )
    if isinstance(value, str) and random.random() < 0.4:
        return random.choice((value + "\0", value.upper(), value[:-1], value + "\u00b5"))
    if isinstance(value, dict) and value and random.random() < 0.93:
        key = random.choice(list(value))
        if random.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: _changed(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        index = random.randrange(len(value))
        if random.random() < 0.1:
            return value[:index] + value[index + random.choice((0, 1)) :] * random.choice((1, 2))
        return [*value[:index], _changed(value[index], random), *value[index + 1 :]]
    return random.choice(_ODD_VALUES)


@functools.cache
def _evaluation_file() -> bytes:
    from sklearn.naive_bayes import GaussianNB

    X = np.random.default_rng(0).normal(size=(60, 2))
    evaluation = sureleaf.evaluate(
        GaussianNB(), X, ["a", "b", "c"] * 20, random_state=0, sample_weight=np.ones(60)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "e"
        evaluation.save(path)
        return path.read_bytes()


def evaluations(random: Random, folder: Path) -> str:
    """Damaged files of evaluations."""
    from sureleaf.evaluation.evaluation import Evaluation

    if random.random() < 0.5:
        content = _sealed(_other_header(_evaluation_file(), random))
    else:
        content = _sealed(damage(_evaluation_file(), random))
    evaluation = Evaluation.load(_written(folder / "e.eval", content))
    str(evaluation.summary())
    str(evaluation.confusion())
    sureleaf.compare(evaluation, evaluation)
    return "used"


@functools.cache
def _report() -> dict[str, Any]:
    from sureleaf.report import Budget, make_report

    rows, labels = [[i, i % 7] for i in range(60)], ["a"] * 30 + ["b"] * 30
    return make_report(rows, labels, budget=Budget(3, 1, 3, 2, 10)).to_dict()


_REPORTED = "x0,x1,target\n" + "".join(f"{i},{i % 7},{'ab'[i // 30]}\n" for i in range(60))


def reports(random: Random, folder: Path) -> str:
    """Damaged reports at the gate, by the command: never exit code 1 by an error."""
    report = _report()
    paths = []
    for name in ("old.json", "new.json"):
        changed = report
        for _ in range(random.choice((0, 1, 1, 2))):
            changed = _changed(changed, random)
        content = json.dumps(changed).encode()
        if random.random() < 0.2:
            content = damage(content, random)
        paths.append(str(_written(folder / name, content)))
    rows = _written(folder / "rows.csv", _REPORTED.encode())
    return _command("compare", *paths, str(rows), "--gate")


def _command(*arguments: str) -> str:
    """Run a command in this process; errors must be one line and exit code 2."""
    from sureleaf.cli import main

    out, errors = io.StringIO(), io.StringIO()
    code: Any = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            main(list(arguments))
        except SystemExit as stop:
            code = stop.code
    lines = [line for line in errors.getvalue().splitlines() if ": note: " not in line]
    if code not in (0, 1, 2) or (code == 2 and (len(lines) != 1 or len(lines[0]) > 4500)):
        raise AssertionError(f"exit code {code} and {errors.getvalue()[-2000:]}")
    return "refused" if code == 2 else "used"


def commands(random: Random, folder: Path) -> str:
    """Commands with odd options and tables with odd cells and names."""
    odd = ["=1+1", "\x1b[2J", "\u202e", "a\nb", "", " ", "-1e999", "NaN"]
    odd += ["9" * 400, "é", "@x", "\\"]
    names = random.sample(
        ["size", "=sum", "a\x1bb", "\u202ename", "x" * 300, "class", "p_a", "leaf"], 4
    )
    cells = [[str(i % 5) for _ in names] for i in range(40)]
    for row in cells:
        for j in range(len(row)):
            if random.random() < 0.3:
                row[j] = random.choice([*odd, "6"])
    lines = [names, *cells]
    text = io.StringIO()
    writer = csv_module.writer(text, delimiter=random.choice(",;\t|"))
    writer.writerows(lines)
    path = _written(folder / "rows.csv", text.getvalue().encode("utf-8", "surrogatepass"))
    target = random.choice([*names, "nowhere"])
    command = random.choice(("fit", "leaves", "rank", "evaluate"))
    encodings = ("utf-8", "ascii", "base64", "rot13", "utf-7", "idna", "", "x")
    written = (
        "delimiter=" + random.choice((",", ";", "\0", "é", "\u202e", "ab", "", '"')),
        "encoding=" + random.choice(encodings),
        "decimal=" + random.choice((".", ",", ";", "")),
        "thousands=" + random.choice((".", ",", "'", " ", "")),
        "missing=" + random.choice(("NaN", "", "x" * 300)),
        random.choice(("", "=", "missing", "x=1")),
    )
    options = random.choice(([], *(["--csv", one] for one in written)))
    output = []
    if command == "fit":
        output = ["-o", str(folder / random.choice(("m", "rows.csv", "no/m")))]
    return _command(command, str(path), "--target", target, *output, *options)


_ODD_SIZES = (0, -1, 1, 7, 2**16, 2**16 + 1, 2**31 - 1, 2**40, 2**63 - 1, 2**64 - 1)
_ODD_FLOATS = (0.0, -1.0, 1e308, -1e308, 5e-324, float("inf"), float("-inf"), float("nan"), 1e18)


def _odd_array(array: Any, random: Random) -> Any:
    """Return an array with another length, type or shape, or with an extreme value."""
    way = random.randrange(6)
    if way == 0:
        return array[: len(array) // 2]
    if way == 1:
        return np.concatenate([array, array])
    if way == 2:
        if array.dtype.kind == "O":
            return np.array([None, 1], object)
        return array.astype(random.choice(("f4", "i2", "u8", "f8", "i4", "i8", "?", "O")))
    if way == 3:
        return array.reshape(-1) if array.ndim > 1 else array[::2]
    changed = array.copy()
    if changed.size:
        values = _ODD_FLOATS if changed.dtype.kind == "f" else _ODD_SIZES
        with np.errstate(all="ignore"):
            value = np.array(random.choice(values)).astype(changed.dtype)
        changed.reshape(-1)[random.randrange(changed.size)] = value
    return changed


def _odd(value: Any, random: Random) -> Any:
    if isinstance(value, np.ndarray):
        return _odd_array(value, random)
    if isinstance(value, list) and value and random.random() < 0.8:
        index = random.randrange(len(value))
        return [*value[:index], _odd(value[index], random), *value[index + 1 :]]
    if isinstance(value, bool):
        return random.choice((True, False, None))
    if isinstance(value, float):
        return random.choice(_ODD_FLOATS)
    if isinstance(value, int):
        return random.choice(_ODD_SIZES)
    return random.choice((None, 1, "x", []))


def _kernel_calls(random: Random) -> list[tuple[Any, list[Any], dict[str, Any]]]:
    """Correct calls of every routine of the kernel, with small arguments."""
    from sureleaf import _kernel as k

    n = 40
    generator = np.random.default_rng(random.randrange(1000))
    numbers = generator.normal(size=n)
    codes = generator.integers(-1, 3, n).astype(np.int32)
    labels = (numbers > 0).astype(np.int32)
    columns = [[numbers, codes], [-1, 3], [False, False], n]
    table = k.make_table(*columns)
    config = k.GrowthConfig(min_samples_leaf=1.0)
    tree = k.grow(k.presort(table, 1), labels, 2, config)
    size = len(tree.feature)
    values = generator.random((size, 2))
    per_node = generator.random(size)
    weights = np.ones(n)
    arrays = {
        name: getattr(tree, name)
        for name in (
            "feature", "threshold", "child_offset", "children", "branch_share",
            "category_offset", "category_branch", "missing_branch",
        )
    }  # fmt: skip
    routing = k.RoutingTree(tree)
    whole = np.array([3, 50, 200], np.int64)
    shares = generator.dirichlet(np.ones(5), 3)
    p = np.array([0.5, 0.7, 1.0])
    rows = np.array([3.0, 50.0, 1e6])
    texts, data = np.array([0, 1, 3, 6], np.int32), np.frombuffer(b"abbccc", np.uint8)
    return [
        (k.make_table, columns, {}),
        (k.presort, [table, 2], {}),
        (
            k.grow,
            [k.presort(table, 1), labels, 2, config],
            {"weights": weights, "counts": None, "n_threads": 2, "use_up": False},
        ),
        (k.make_tree, [], {**arrays, "class_weights": tree.class_weights, "n_columns": 2}),
        (k.cut_at, [tree, np.zeros(size, np.uint8)], {}),
        (k.cost_complexity_alphas, [tree, per_node], {}),
        (k.average_prunings, [tree, values, per_node, per_node, per_node, 1.0], {}),
        (
            k.prune_pessimistic,
            [tree, table, labels],
            {"weights": weights, "are_copies": False, "confidence_factor": 0.25, "quantile": 0.67},
        ),
        (k.route, [routing, table, False], {}),
        (k.count_nodes, [tree, table, labels, weights], {}),
        (k.predict, [routing, table, values], {"stop_at_unseen": False, "n_threads": 2}),
        (k.predict_bags, [[tree], [values], None, table, True, False, 1], {}),
        (k.plurality, [whole, shares, np.empty((3, 5)), False], {}),
        (k.confidence, [rows, p], {}),
        (k.node_confidence, [rows, np.array([0.1, 0.5, 1.0]), p, True], {}),
        (k.entropic_estimate, [np.array([2.0, 40.0, 9e5]), rows], {}),
        (k.log_binomial, [np.array([2.0, 40.0, 9e5]), rows, p], {}),
        (k.TextCoder().add, [texts, data, None, 0, np.zeros(3, np.int32)], {}),
        (k.are_ascii, [texts, data], {}),
        (k.code_objects, [np.array(["a", "b"], object), np.zeros(2, np.int32)], {}),
        (k.look_up, [codes, np.arange(3, dtype=np.int32), np.zeros(n, np.int32)], {}),
        (k.mark_used, [codes, np.zeros(3, np.bool_)], {}),
        (k.recode, [codes.copy(), np.arange(3, dtype=np.int32)], {}),
        (
            k.GrowthConfig,
            [],
            {"min_samples_leaf": 1.0, "max_depth": 3, "max_leaves": 5, "category_penalty": 0.0},
        ),
        (k.row_fingerprints, [table, labels, 2], {}),
        (k.make_matrix, [generator.normal(size=(n, 3))], {}),
        (k.collapse_marks, [tree], {}),
        (k.shrink_to_parent, [tree, values, per_node, np.array([0.4, 0.6]), 2.0], {}),
        *_calls_for_parts(k, generator, labels, config, tree),
    ]


def _calls_for_parts(
    k: Any, generator: np.random.Generator, labels: Any, config: Any, tree: Any
) -> list[tuple[Any, list[Any], dict[str, Any]]]:
    """Correct calls of the routines for tables in parts."""
    n = len(labels)
    codes = generator.integers(0, 4, (n, 2)).astype(np.uint8)
    wide = generator.integers(-1, 300, n).astype(np.int32)
    columns: dict[str, Any] = {
        "codes": codes,
        "wide": [wide],
        "values": [np.array([0.0, 1.5, 3.0]), None, None],
        "n_categories": [-1, 3, 300],
        "ordered": [False, True, False],
        "are_ranges": [False, False, False],
        "has_missing": [True, True, True],
    }
    zeros, one = np.zeros(n, np.int32), np.zeros(1, np.int32)
    class_weights = np.bincount(labels, minlength=2).astype(float)
    counts = k.count_level(k.make_coded(**columns), labels, 2, None, zeros, one, 1)[0]
    level = [labels, 2, np.ones(n, np.int64), zeros, one, 1]
    moves = [2, zeros, one, np.zeros(1, np.int64), one + 1, np.array([0, 0, 1, 1], np.int32)]

    def count(labels: Any, *rest: Any, **columns: Any) -> None:
        k.count_level(k.make_coded(**columns), labels, *rest)

    def fingerprint(*arguments: Any, **columns: Any) -> None:
        k.row_fingerprints(k.make_coded(**columns), *arguments)

    def move(*arguments: Any, **columns: Any) -> None:
        k.advance_rows(k.make_coded(**columns), *arguments)

    def grow(weights: Any, whole: Any, node: Any, counts: Any, graft: Any, **columns: Any) -> None:
        grower = k.LevelGrower(k.make_coded(**columns), weights, whole, config)
        (grower.split if whole else grower.split_weighted)(node, counts)
        for child in grower.open_nodes():
            grower.start_below(child)
            grower.graft(child, graft)
        grower.finish()

    return [
        (k.make_coded, [], columns),
        (count, level, columns),
        (move, moves, columns),
        (fingerprint, [labels, 2], columns),
        (grow, [class_weights, True, 0, counts, tree], columns),
        (grow, [class_weights, False, 0, counts.astype(float), tree], columns),
        (k.few_values, [generator.normal(size=n), np.ones(n, np.uint8)], {}),
        (k.hash_rows, [np.asfortranarray(generator.normal(size=(n, 3)))], {}),
        (k.code_numbers, [generator.normal(size=n), np.arange(3.0), codes.copy(), 1], {}),
    ]


def kernel(random: Random, folder: Path) -> str:
    """Calls of the kernel's routines with one or two wrong arguments."""
    routine, positional, named = random.choice(_kernel_calls(random))
    for _ in range(random.choice((1, 1, 2))):
        index = random.randrange(len(positional) + len(named))
        if index < len(positional):
            positional = [*positional]
            positional[index] = _odd(positional[index], random)
        else:
            key = list(named)[index - len(positional)]
            named = {**named, key: _odd(named[key], random)}
    try:
        routine(*positional, **named)
    except (ValueError, TypeError, OverflowError, MemoryError):
        return "refused"
    return "used"


@functools.cache
def _booster_files() -> dict[str, bytes]:
    import lightgbm
    import xgboost

    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 2] = np.rint(4 * X[:, 2]) % 20
    y = (X[:, 0] + (X[:, 2] % 3 == 1) > 0.3).astype(int)
    data = lightgbm.Dataset(X, y, categorical_feature=[2], params={"verbose": -1})
    light = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1}, data, 3)
    settings = {"objective": "binary:logistic", "nthread": 1}
    extreme = xgboost.train(settings, xgboost.DMatrix(X, y), 3)
    return {
        "booster.txt": light.model_to_string().encode(),
        "booster.json": bytes(extreme.save_raw("json")),
        "booster.ubj": bytes(extreme.save_raw("ubj")),
    }


def boosters(random: Random, folder: Path) -> str:
    """Damaged files of LightGBM and XGBoost, which a child process loads and asks."""
    from sureleaf.auditing import load_model

    name = random.choice(("booster.txt", "booster.txt", "booster.json", "booster.ubj"))
    path = _written(folder / name, damage(_booster_files()[name], random))
    load_model(path).output(np.random.default_rng(1).normal(size=(100, 3)), None)
    return "used"


@functools.cache
def _store_file() -> bytes:
    from sklearn.dummy import DummyClassifier
    from sklearn.naive_bayes import GaussianNB

    from sureleaf.designs import KFold
    from sureleaf.studies import DataSet, Learner, Store, Study
    from sureleaf.studies.worker import Calculator
    from tests.studies.learners import Raises

    X = np.random.default_rng(0).normal(size=(40, 2))
    y = ["a", "b"] * 20
    data = [DataSet("first", X=X, y=y, sample_weight=np.ones(40)), DataSet("second", X=X, y=y)]
    learners = [
        Learner("bayes", GaussianNB()),
        Learner("dummy", DummyClassifier()),
        Learner("fails", Raises()),
    ]
    study = Study("hostile", data, learners, KFold(2), measures=("accuracy", "nce"))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "s.db")
        number, calculator = store.register(study), Calculator(study)
        while claim := store.claim(number, "here"):
            outcome = calculator.compute(claim.cell)
            if isinstance(outcome, str):
                store.fail(claim, "here", outcome, 0.1)
            else:
                store.finish(claim, "here", outcome)
        store.close()
        with contextlib.closing(sqlite3.connect(Path(folder) / "s.db")) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")  # all in one file
        return (Path(folder) / "s.db").read_bytes()


def _changed_store(path: Path, random: Random) -> None:
    """Change a value of a store, or delete a row; some have correct checksums."""
    values = [*_ODD_VALUES, b"", b"\0" * 160, b"\xff" * 80, "done", "failed", "open", "running"]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        tables = ("sureleaf_studies", "studies", "data_sets", "cells", "cells", "predictions")
        for _ in range(random.choice((1, 1, 2))):
            table = random.choice(tables)
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            n_rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            where = f"rowid = {random.randrange(n_rows + 1) + 1}"
            if random.random() < 0.15:
                connection.execute(f"DELETE FROM {table} WHERE {where}")
                continue
            column, value = random.choice(columns), random.choice(values)
            before = connection.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchone()
            if before and isinstance(before[0], bytes) and random.random() < 0.7:
                value = damage(before[0], random) if before[0] else b"\0"
            elif before and isinstance(before[0], str) and before[0].startswith("{"):
                value = json.dumps(_changed(json.loads(before[0]), random))
            elif isinstance(value, list | dict | bool):
                value = json.dumps(value)
            with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [value])


def stores(random: Random, folder: Path) -> str:
    """Damaged stores of studies: other bytes, or other values with or without checksums."""
    from sureleaf.commands.terminal import show_study
    from sureleaf.report.html.page import render_study
    from sureleaf.studies import Store, StudyResults, study_answer, study_document
    from tests.studies.checksums import sealed

    content = _store_file()
    path = _written(folder / "s.db", damage(content, random) if random.random() < 0.3 else content)
    if path.read_bytes() == content:
        _changed_store(path, random)
        if random.random() < 0.5:
            with contextlib.suppress(KeyError, TypeError, ValueError):  # it has no digests
                sealed(path)
    store = Store(path, create=False)
    try:
        for name in store.names():
            str(store.status(name))
            document = study_document(StudyResults(store, name))
            answer = study_answer(document)
            render_study(document.to_dict(), answer)
            list(show_study(document))
    finally:
        store.close()
    return "used"


@functools.cache
def _skops_files() -> list[bytes]:
    import lightgbm
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier
    from skops.io import dumps

    X = np.random.default_rng(0).normal(size=(100, 3))
    models = (
        DecisionTreeClassifier(max_depth=3),
        RandomForestClassifier(2, max_depth=2),
        HistGradientBoostingClassifier(max_iter=2),
        SVC(),
        lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1),
    )
    return [dumps(model.fit(X, (X[:, 0] > 0.3).astype(int))) for model in models]


def skops(random: Random, folder: Path) -> str:
    """Damaged members of skops files: a child process loads and asks the model."""
    from sureleaf import audit
    from sureleaf.auditing import load_model

    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(random.choice(_skops_files()))) as archive:
        names = archive.namelist()
        hit = random.choice(names)
        with zipfile.ZipFile(packed, "w") as damaged:
            for name in names:
                content = archive.read(name)
                spare = 128 if name.endswith(".npy") and random.random() < 0.9 else 0
                own = damage(content, random, spare=spare) if name == hit else content
                damaged.writestr(name, own)
    path = _written(folder / "model.skops", packed.getvalue())
    rows = np.random.default_rng(1).normal(size=(100, 3))
    audit(load_model(path), rows, (rows[:, 0] > 0.3).astype(int))
    return "used"


def _odd_column(values: list[Any], random: Random) -> Any:
    """Return a column in another Arrow type, or with large integers or nulls in its dictionary."""
    import pyarrow as pa

    column = pa.array(values)
    way = random.randrange(7)
    if way == 0:
        return column.dictionary_encode()
    if way == 1:
        codes = [random.choice((None, 0, 1, 2, 3)) for _ in values]
        texts, integers = ["x", None, "", "z"], [1, None, 2**60, 2**60 + 1]
        kinds = (texts, integers, [None] * 4, [0.5, None, -0.0, 1])
        words = pa.array(random.choice(kinds), from_pandas=False)
        ordered = random.random() < 0.5
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), words, ordered=ordered)
    if way == 2:
        step = random.choice((1, 1024))
        return pa.array([random.choice((None, 2**60 + step * i)) for i in range(len(values))])
    if way == 3:
        return pa.nulls(len(values), random.choice((pa.null(), pa.float64(), pa.string())))
    if way == 4:
        texts = [None if value is None else str(value) for value in values]
        return pa.array(texts, pa.string_view())
    return column


def _odd_batches(random: Random) -> list[Any]:
    """Return the record batches of a stream; some streams change their columns on the way."""
    import pyarrow as pa

    changing = random.random() < 0.2
    columns: dict[str, list[Any]] = {
        name: _rows()[name].to_pylist() for name in random.sample(_rows().column_names[:-1], 3)
    }
    columns["class"] = _rows()["class"].to_pylist()
    state, n = random.getstate(), random.choice((7, 20, 60))
    batches = []
    for start in range(0, 60, n):
        if not changing:
            random.setstate(state)
        part = {name: values[start : start + n] for name, values in columns.items()}
        arrays = {name: _odd_column(values, random) for name, values in part.items()}
        if random.random() < 0.9:
            arrays["class"] = pa.array(part["class"])
        batches.append(pa.record_batch(arrays))
    return batches


def streams(random: Random, folder: Path) -> str:
    """Streams that are read once, and functions that open them again; fitted and predicted."""
    import pyarrow as pa

    batches = _odd_batches(random)

    def reader() -> Any:
        return pa.RecordBatchReader.from_batches(batches[0].schema, iter(batches))

    source = random.choice((lambda: batches, iter(batches), None))
    model = sureleaf.TreeClassifier(levels_from="training", n_jobs=1)
    with contextlib.suppress(pa.ArrowException):  # of a reader whose batches differ
        source = reader() if source is None else source
        model.fit(source, "class")
        model.predict(batches[-1].drop_columns(["class"]))
        return "fitted"
    return "refused"


def changing(random: Random, folder: Path) -> str:
    """Sources that change while they are read: functions, and files that are written again."""
    from pyarrow import parquet as pq

    from sureleaf.scale import open_source

    rows = _rows()
    order = np.random.default_rng(random.randrange(1000)).permutation(60)
    others = (
        rows,
        rows.take(order),
        rows.slice(0, random.randrange(60)),
        rows.set_column(7, "class", rows["class"].take(order)),
        rows.set_column(2, "word", rows["large"].take(order)),
        rows.drop_columns([random.choice(rows.column_names)]),
    )
    tables = [random.choice(others) for _ in range(5)]
    model = sureleaf.TreeClassifier(levels_from="training", n_jobs=1)
    if random.random() < 0.5:
        opened = iter(tables + [rows] * 20)
        model.fit(lambda: next(opened).to_batches(), "class")
        return "fitted"
    path = folder / "rows.parquet"
    pq.write_table(rows, path)
    source = open_source(path)
    content = path.read_bytes()
    if random.random() < 0.5:
        pq.write_table(tables[0], path)
    else:
        _written(path, damage(content, random))
    model.fit(source, "class")
    return "fitted"


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        arrow, parquet, csv, excel, models, evaluations, stores, reports, commands, kernel,
        boosters, streams, changing, skops,
    )
}  # fmt: skip
