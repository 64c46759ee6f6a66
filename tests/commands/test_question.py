"""A table is asked a question that a classifier can answer, or the question is refused."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sureleaf.commands.question import read_question
from sureleaf.errors import InvalidArgumentError


def ask(tmp_path: Path, labels: list[str], **named: object) -> object:
    rows = "".join(f"{place},{label}\n" for place, label in enumerate(labels))
    (tmp_path / "rows.csv").write_text(f"n,y\n{rows}")
    return read_question(tmp_path / "rows.csv", "y", **named)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["1.5", "2", "3.5"], "must be a column of classes: .* got 'y' with numbers such as 1.5"),
        ([str(i) for i in range(21)], "column of classes; got 'y' with 21 distinct numbers in 21"),
        (["x", "x", "x"], "at least two classes; got 'y', which is x in every row"),
        (["", "", ""], "rows with a value in 'y'; got 3 rows without one"),
        ([], "rows with a value in 'y'; got only a header"),
    ],
)
def test_what_is_no_question_is_refused(tmp_path: Path, labels: list[str], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        ask(tmp_path, labels)


def test_columns_may_be_left_out_and_labels_be_whole_numbers(tmp_path: Path) -> None:
    asked = ask(tmp_path, ["1", "2", ""])
    assert asked.y.tolist() == [1, 2]
    assert asked.n_left_out == 1
    with pytest.raises(InvalidArgumentError, match=r"got only y, n\. Drop fewer columns"):
        ask(tmp_path, ["1", "2"], drop=["n"])


def test_a_target_that_looks_like_a_name_of_each_row_is_doubted(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="'y' has 50 distinct values in 50 rows; is it the col"):
        ask(tmp_path, [f"person {place}" for place in range(50)])


def test_whole_numbers_of_ten_rows_each_may_be_classes(tmp_path: Path) -> None:
    labels = [str(place % 30) for place in range(300)]
    assert len(set(ask(tmp_path, labels).y.tolist())) == 30
    with pytest.raises(InvalidArgumentError, match=r"30 distinct numbers in 299 rows\..*ranges"):
        ask(tmp_path, labels[:-1])
    large = [str(place % 1001) for place in range(20_000)]
    with pytest.raises(InvalidArgumentError, match="1,001 distinct numbers"):
        ask(tmp_path, large)


@pytest.mark.parametrize(
    "labels",
    [
        pa.array([{"a": 1}, {"a": 2}] * 10),
        pa.array([[1], [2]] * 10),
        pa.array([2**62, -5] * 10, pa.timestamp("s")),
    ],
)
def test_a_target_without_labels_is_one_error(tmp_path: Path, labels: Any) -> None:
    table = pa.table({"n": list(range(20)), "class": labels})
    path = tmp_path / "rows.arrow"
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    with pytest.raises(InvalidArgumentError, match="--target must be a column of labels"):
        read_question(path, "class")
