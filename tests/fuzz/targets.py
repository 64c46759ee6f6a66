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
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import sureleaf
from tests.fuzz.damage import damage

__all__ = ["TARGETS", "largest_file"]

Target = Callable[[Random, Path], str]

largest_file = 0
"""Bytes of the largest file that the last case has written; memory is compared with it."""


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
    from sureleaf.report.predictions import write_predictions
    from sureleaf.report.question import read_question
    from sureleaf.table import stream_rows

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
    rows, labels = _rows().drop_columns(["class"]), _rows()["class"]
    if kind == "bag":
        model: Any = sureleaf.BaggedTreesClassifier(n_estimators=3, random_state=0)
    else:
        model = sureleaf.TreeClassifier(levels_from="cross_fit", cv=3, min_samples_leaf=2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        model.fit(rows, labels).save(path)
        return path.read_bytes()


def _sealed(content: bytes) -> bytes:
    """Correct the checksum, so that the damage behind it is met."""
    return content[:-32] + hashlib.sha256(content[:-32]).digest()


def _use_model(model: Any, random: Random) -> str:
    rows = _rows().drop_columns(["class"])
    model.predict_proba(rows)
    if isinstance(model, sureleaf.TreeClassifier):
        str(model.leaves())
        model.levels()
        for form in random.sample(("rules", "json", "sql", "python", "dot", "svg", "onnx"), 2):
            sureleaf.export(model, form)
    model.predict_levels(rows)
    return "used"


def models(random: Random, folder: Path) -> str:
    """Damaged files of models; most have a correct checksum."""
    content = _model_file(random.choice(("tree", "tree", "bag")))
    if random.random() < 0.4:
        content = _sealed(_other_header(content, random))
    else:
        content = damage(content, random)
        content = _sealed(content) if random.random() < 0.9 else content
    path = _written(folder / "m.sureleaf", content)
    return _use_model(sureleaf.load(path), random)


def _other_header(content: bytes, random: Random) -> bytes:
    """Replace a value in the JSON header of a container."""
    size = int.from_bytes(content[24:32], "little")
    header = json.loads(content[32 : 32 + size])
    text = json.dumps(_changed(header, random)).encode()
    text += b" " * (-len(text) % 8)
    return content[:24] + len(text).to_bytes(8, "little") + text + content[32 + size :]


_ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2, 10**6, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, 5e-324, "", "a", "\x1b",
    "\ud800", "x" * 5000, [], {}, [[]], [None], {"a": 1}, [[[[[[]]]]]],
)  # fmt: skip


def _changed(value: Any, random: Random) -> Any:
    """Return JSON values with an odd one somewhere, or without one of them."""
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
    """Damaged files of evaluations, of both versions."""
    from sureleaf.evaluation import Evaluation

    if random.random() < 0.3:
        old = Path(__file__).parents[1] / "evaluation" / "version_1.npz"
        content = damage(old.read_bytes(), random)
    elif random.random() < 0.5:
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
    return _command("compare", *paths, "--gate")


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
    odd = [
        "=1+1",
        "\x1b[2J",
        "\u202e",
        "a\nb",
        "",
        " ",
        "-1e999",
        "NaN",
        "9" * 400,
        "é",
        "@x",
        "\\",
    ]
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
    options = random.choice(
        (
            [],
            ["--delimiter", random.choice((",", ";", "\x00", "é", "\u202e", "ab", "", '"', "\n"))],
            [
                "--encoding",
                random.choice(("utf-8", "ascii", "base64", "rot13", "utf-7", "idna", "", "x")),
            ],
            ["--decimal", random.choice((".", ",", ";", ""))],
            ["--thousands", random.choice((".", ",", "'", " ", ""))],
            ["--missing", random.choice(("NaN", "", "x" * 300))],
        )
    )
    output = (
        ["-o", str(folder / random.choice(("m", "rows.csv", "no/m")))] if command == "fit" else []
    )
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
    """Damaged files of LightGBM and XGBoost: they are tried in a child process first."""
    from sureleaf.auditing import load_model

    name = random.choice(("booster.txt", "booster.txt", "booster.json", "booster.ubj"))
    path = _written(folder / name, damage(_booster_files()[name], random))
    booster = load_model(path)
    rows = np.random.default_rng(1)
    if name == "booster.txt":
        booster.predict(rows.normal(size=(100, booster.num_feature())))
    else:
        import xgboost

        X = xgboost.DMatrix(rows.normal(size=(100, booster.num_features())))
        booster.predict(X, validate_features=False)
    return "used"


TARGETS: dict[str, Target] = {
    "arrow": arrow,
    "parquet": parquet,
    "csv": csv,
    "excel": excel,
    "models": models,
    "evaluations": evaluations,
    "reports": reports,
    "commands": commands,
    "kernel": kernel,
    "boosters": boosters,
}
