"""sureleaf watch, run in this process."""

import json
from pathlib import Path

import numpy as np
import pytest

import sureleaf
from tests.cli.command import run
from tests.cli.test_examples import documented_keys
from tests.monitoring.test_watch import table

pytestmark = pytest.mark.filterwarnings("ignore:columns that the fitted table did not have")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watch")
    sets = {"train": table(0, 900), "may": table(60, 300), "june": table(61, 900, shift=0.85)}
    for name, (X, y) in sets.items():
        lines = [f"{k},{a},{b},{label}" for k, ((a, b), label) in enumerate(zip(X, y, strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(["id,a,b,y", *lines]))
        bare = [",".join([*line.split(",")[:3], ""]) for line in lines]
        (folder / f"{name}-bare.csv").write_text("\n".join(["id,a,b,y", *bare]))
        labels = [f"{line.split(',')[0]},{line.split(',')[3]}" for line in lines]
        (folder / f"{name}-labels.csv").write_text("\n".join(["id,y", *labels]))
    import pandas as pd

    train = pd.read_csv(folder / "train.csv")
    tree = sureleaf.TreeClassifier(
        levels_from="honest", pruning=None, max_leaves=4, min_samples_leaf=20, random_state=0
    )
    tree.fit(train[["a", "b"]], train["y"]).save(folder / "tree.sureleaf")
    return folder


def watch(capsys, files, *arguments):
    words = [str(files / one) if one.endswith((".csv", ".sureleaf")) else one for one in arguments]
    return run(capsys, "watch", *words)


def test_it_exits_with_0_until_there_is_an_alarm_and_then_with_1(capsys, files, tmp_path):
    state = str(tmp_path / "state.json")
    common = ("-t", "y", "--state", state)
    code, out, _ = watch(capsys, files, "tree.sureleaf", "may.csv", *common)
    assert (code, out.splitlines()[0]) == (0, "No alarm after 300 rows, 300 of them with a label.")
    page = tmp_path / "watch.html"
    code, out, _ = watch(capsys, files, "tree.sureleaf", "june.csv", *common, "-o", str(page))
    assert code == 1
    assert out.startswith("Alarm after 1,200 rows")
    assert '<svg class="sequence"' in page.read_text()
    code, out, _ = watch(capsys, files, "tree.sureleaf", "--state", state, "--json")
    assert code == 1
    document = json.loads(out)
    assert (document["alarm"], document["rows"]) == (True, 1200)
    assert list(document) == documented_keys()["watch"]


def test_the_same_file_twice_is_an_error_and_counts_nothing(capsys, files, tmp_path):
    state = tmp_path / "state.json"
    common = ("-t", "y", "--state", str(state))
    watch(capsys, files, "tree.sureleaf", "may.csv", *common)
    before = state.read_bytes()
    code, _, err = watch(capsys, files, "tree.sureleaf", "may.csv", *common)
    assert (code, "earlier addition" in err) == (2, True)
    assert state.read_bytes() == before


def test_labels_come_later_by_their_key(capsys, files, tmp_path):
    state = str(tmp_path / "state.json")
    common = ("-t", "y", "--key", "id", "--state", state, "--json")
    _, out, _ = watch(capsys, files, "tree.sureleaf", "may-bare.csv", *common)
    first = json.loads(out)
    assert (first["rows"], first["labelled"], first["pending"]) == (300, 0, 300)
    _, out, _ = watch(capsys, files, "tree.sureleaf", "may-labels.csv", *common)
    then = json.loads(out)
    assert (then["rows"], then["labelled"], then["pending"]) == (300, 300, 0)
    _, _, err = watch(capsys, files, "tree.sureleaf", "may-labels.csv", *common)
    assert "note: by their key, 300 labels were known before." in err
    _, out, err = watch(capsys, files, "tree.sureleaf", "june.csv", *common)
    assert json.loads(out)["rows"] == 900
    assert "note: by their key, 300 rows were counted before" in err


def test_a_month_of_one_class_is_counted(capsys, files, tmp_path):
    rng = np.random.default_rng(70)
    path = tmp_path / "month.csv"
    path.write_text("\n".join(["a,b,y", *(f"{a},{b},0" for a, b in rng.random((6, 2)) / 3)]))
    common = ("-t", "y", "--state", str(tmp_path / "state.json"))
    code, out, _ = run(capsys, "watch", str(files / "tree.sureleaf"), str(path), *common)
    assert code == 0
    assert "6 of them with a label" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tree.sureleaf", "may.csv"), "--target must name"),
        (("tree.sureleaf", "may.csv", "-t", "label"), "--target must be a column"),
        (("tree.sureleaf", "may.csv", "-t", "y", "--key", "name"), "--key must be a column"),
        (("tree.sureleaf",), "does not exist"),
    ],
)
def test_errors_are_one_line_with_code_2(capsys, files, tmp_path, arguments, message):
    state = tmp_path / "state.json"
    code, _, err = watch(capsys, files, *arguments, "--state", str(state))
    assert (code, message in err) == (2, True)
    assert not state.exists()


def test_the_page_is_never_written_over_a_state_that_is_yet_to_be_made(capsys, files, tmp_path):
    state = tmp_path / "watch.json"
    common = ("-t", "y", "--state", str(state), "-o", str(state))
    code, _, err = watch(capsys, files, "tree.sureleaf", "may.csv", *common)
    assert (code, "must not replace watch.json" in err, state.exists()) == (2, True, False)
