"""The one rule about bad input, and scalars in, scalars out."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sureleaf import arguments
from sureleaf.errors import InvalidArgumentError, InvalidTypeError


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.int8(3), Fraction(3), Decimal(3), "3"])
def test_numbers_of_any_kind_are_read_and_text_is_not(value: object) -> None:
    if isinstance(value, str):
        with pytest.raises(InvalidTypeError, match=r"n must be a number .*; got '3'\."):
            arguments.check_numbers("n", value)
    else:
        assert arguments.check_numbers("n", value).item() == 3.0


@pytest.mark.parametrize("value", [None, [1, None], 1j, [[1], [1, 2]], ["a"], {"n": 1}])
def test_what_is_no_number_is_a_type_error(value: object) -> None:
    with pytest.raises(InvalidTypeError, match="n must be a number or an array of numbers"):
        arguments.check_numbers("n", value)


def test_integers_beyond_64_bits_are_read() -> None:
    assert arguments.check_numbers("n", 10**30) == 1e30


def test_the_callers_array_is_never_written_to() -> None:
    given = np.array([0.2, 0.6])
    assert np.isnan(arguments.check_p_max(given)[0])
    assert given[0] == 0.2


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (0.3, "did you mean 0.7?"),
        (75, "Did you mean 0.75?"),
        (1.2, "got 1.2."),
        (float("nan"), "Remove or replace missing values first."),
    ],
)
def test_messages_about_p_max_say_what_to_do_next(value: float, advice: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        arguments.check_p_max(value)
    assert f"p_max must be from 0.5 to 1; got {value!r}." in str(caught.value)
    assert str(caught.value).endswith(advice)


def test_a_bad_element_of_one_vector_raises_only_where_a_vector_is_the_unit() -> None:
    assert np.isnan(arguments.check_p_max([0.6, 0.4])).tolist() == [False, True]
    with pytest.raises(InvalidArgumentError, match=r"got 0\.4\."):
        arguments.check_p_max([0.6, 0.4], core=1)
    assert np.isnan(arguments.check_p_max([[0.6, 0.4]], core=1)).tolist() == [[False, True]]


def test_a_distribution_is_scaled_to_sum_exactly() -> None:
    assert arguments.check_distribution("shares", [0.5 + 4e-9, 0.5]).sum() == 1.0


@pytest.mark.parametrize("bad", [[0.5, 0.6], [0.5, 0.4], [1.5, -0.5], [np.nan, 1.0], [np.inf, 0.0]])
def test_what_does_not_add_up_to_one_raises_alone_and_is_nan_among_others(bad: list[float]) -> None:
    with pytest.raises(InvalidArgumentError, match="shares must be 0 or more and add up to 1"):
        arguments.check_distribution("shares", bad)
    both = arguments.check_distribution("shares", [bad, [0.25, 0.75]])
    assert np.isnan(both[0]).all()
    assert both[1].tolist() == [0.25, 0.75]


@pytest.mark.parametrize("bad", [1.0, [], np.ones((2, 0))])
def test_a_distribution_needs_a_last_axis(bad: object) -> None:
    with pytest.raises(InvalidArgumentError, match="must have a last axis"):
        arguments.check_distribution("shares", bad)


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(InvalidArgumentError, match=r"got n \(2,\), p_max \(3,\)\."):
        arguments.broadcast(n=np.ones(2), p_max=np.ones(3))


def test_scalars_come_back_as_python_floats() -> None:
    assert type(arguments.scalar_or_array(np.array(0.5))) is float
    assert isinstance(arguments.scalar_or_array(np.array([0.5])), np.ndarray)


def test_few_rows_are_predicted_by_one_thread_without_asking_joblib(monkeypatch) -> None:
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n_jobs: pytest.fail("joblib was asked"))
    assert arguments.thread_count(None, 1) == arguments.thread_count(-1, 63) == 1
    with pytest.raises(InvalidArgumentError, match="n_jobs"):
        arguments.thread_count(0, 1)
