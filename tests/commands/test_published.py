"""Published numbers, by the textbook and by the recommended method."""

import json

import pytest
from scipy.stats import chi2_contingency, ttest_1samp

from sureleaf.comparison import compare_rates, mcnemar, paired_t, rate_interval
from tests.cli.command import run


def found(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    code, out, err = run(capsys, "test", *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_rate_has_the_normal_and_wilsons_interval(capsys) -> None:
    result = found(capsys, "rate", "76/100")
    expected = rate_interval(0.76, 100)
    assert (result["recommended"]["low"], result["recommended"]["high"]) == (
        expected.low,
        expected.high,
    )
    assert result["textbook"]["low"] == pytest.approx(0.76 - 1.959964 * (0.76 * 0.24 / 100) ** 0.5)
    assert result["answer"] == "The true rate is between 66.8 % and 83.3 % (95 % interval)."


def test_two_rates_have_the_z_test_and_the_score_interval(capsys) -> None:
    result = found(capsys, "rates", "76/100", "83/120", "--level", 0.9)
    for name, pooled in (("textbook", False), ("recommended", True)):
        expected = compare_rates(0.76, 100, 83 / 120, 120, pooled=pooled, level=0.9)
        assert result[name]["low"] == expected.low
        assert result[name]["p_value"] == expected.p_value
    table = [[76, 24], [83, 37]]
    squares = chi2_contingency(table, correction=False).pvalue
    assert result["recommended"]["p_value"] == pytest.approx(squares)
    assert "No difference is shown" in result["answer"]
    by_share = found(capsys, "rates", "15%/30", "25%/5000")
    assert by_share["textbook"]["p_value"] == compare_rates(0.15, 30, 0.25, 5000).p_value


def test_differences_of_folds_have_the_plain_and_the_corrected_t(capsys) -> None:
    values = [0.01, -0.02, 0.03, 0.02, 0.04]
    result = found(capsys, "differences", *values)
    assert result["textbook"]["p_value"] == pytest.approx(ttest_1samp(values, 0).pvalue)
    assert result["recommended"]["low"] == paired_t(values, corrected=True).low
    clear = found(capsys, "differences", -0.1, -0.11, -0.12)
    assert "The mean difference is below 0 (p = " in clear["answer"]


def test_mcnemars_table_needs_all_rows_only_for_the_difference(capsys) -> None:
    result = found(capsys, "mcnemar", 7, 18)
    assert result["textbook"]["p_value"] == pytest.approx(0.0455, abs=1e-4)  # (11 - 1)^2 / 25 = 4
    assert result["recommended"]["p_value"] == mcnemar(7, 18, 25).p_value
    assert result["recommended"]["low"] is None
    assert result["answer"].startswith("The accuracy of the first is lower than that of the second")
    of_rows = found(capsys, "mcnemar", 7, 18, "--rows", 200)
    assert of_rows["recommended"]["low"] == mcnemar(7, 18, 200).low
    _, out, _ = run(capsys, "test", "mcnemar", 7, 18, "--rows", 200)
    assert "recommended: McNemar, mid-p" in out
    assert found(capsys, "mcnemar", 0, 0)["recommended"]["p_value"] == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("ratio", "1/2"),
            "QUESTION must be one of rate, rates, differences, mcnemar; got 'ratio'",
        ),
        (("rate", "76"), "a rate must be a count and a number of rows, such as 76/100"),
        (("rate", "120/100"), "a rate must be"),
        (("rate", "1/0"), "a rate must be"),
        (("rates", "1/2"), "test rates needs two values, such as"),
        (("rate", "1/2", "--rows", 3), "--rows goes with mcnemar; got it with rate"),
        (("differences", 0.1, "--levle", 3), "differences must be numbers, one per fold"),
        (("differences", 0.1), "differences must be a list of at least two finite numbers"),
        (("mcnemar", 7, "x"), "test mcnemar needs whole numbers of rows"),
        (("mcnemar", 7, 18, "--rows", 9), "with a sum of at most n"),
    ],
)
def test_numbers_that_do_not_fit_the_question_are_one_line(words, message, capsys):
    code, out, err = run(capsys, "test", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
