"""From rows to the page: what the browser computes is what the fitted tree says."""

import re
from typing import Any

import numpy as np
import pytest

from sureleaf import TreeClassifier
from tests.browser.conftest import Show
from tests.browser.test_costs import matrix, number
from tests.report.tables import mixed, quick_report, three_classes


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize("table", [mixed, three_classes])
def test_rows_and_decisions_in_the_page_are_those_of_python(show: Show, table: Any) -> None:
    X, y = table()
    document = quick_report(X, y).to_dict()
    model = TreeClassifier(random_state=0).fit(X, y)
    # The report shows fewer digits of thresholds.
    shown, rules = document["tree"]["rules"], model.rules()
    assert re.sub(r"\d+\.\d{3,}", "", shown) == re.sub(r"\d+\.\d{3,}", "", rules)
    page = show(document)

    examples = document["tree"]["example_rows"]
    assert len(examples) >= 20
    stated = model.predict_proba(X)
    followed = page.evaluate(
        "rows => rows.map(row => Sureleaf.rowPath(row).probabilities)",
        [example["codes"] for example in examples],
    )
    expected = stated[[example["row"] for example in examples]]
    np.testing.assert_allclose(followed, expected, rtol=0, atol=1e-12)

    # The same rows through the form, where dates and numbers are text.
    page.locator("#row-path summary").click()
    for place in (0, 7, 19):
        page.select_option("#row-chooser", str(place))
        page.evaluate(
            "document.querySelectorAll('#row-form input').forEach(one => delete one.dataset.text)"
        )
        page.evaluate("Sureleaf.followRow()")
        most = page.locator("#row-result [data-probability]").first
        assert float(most.get_attribute("data-probability")) == pytest.approx(expected[place].max())

    decision = document["quality"]["decision"]
    np.testing.assert_allclose(matrix(page), decision["confusion"], rtol=0, atol=1e-9)
    assert number(page, "#cost-now") == pytest.approx(decision["cost_per_row"], abs=1e-12)
    if decision["threshold"] is not None:
        assert number(page, "#threshold-least") == decision["threshold"]

    rules = page.evaluate(
        "Sureleaf.report.tree.nodes.filter(node => !node.children.length)"
        ".map(node => Sureleaf.treeParts.ruleOf(node.id))"
    )
    assert rules == [one["rule"] for one in document["tree"]["nodes"] if not one["children"]]
