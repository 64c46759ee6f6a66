"""The pages of a tree over time."""

import json
import re

import numpy as np
import pytest

from sureleaf import TreeClassifier, Watch, diff
from sureleaf.report.html.life_pages import render_diff, render_watch
from tests.monitoring.test_watch import fitted, table

BAD = "<script>alert(1)</script>"


def text_of(page: str) -> str:
    body = page.split("<main", 1)[1].split("</main>", 1)[0]
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def test_the_page_of_a_watch_has_every_leaf_with_its_sentence_and_drawing():
    watch = Watch(fitted()).add(*table(70, 300)).add(*table(71, 900, shift=0.85))
    page = render_watch(watch.to_dict())
    for sentence in [*watch.sentences(), *watch.leaves().sentence]:
        assert sentence in text_of(page)
    assert page.count('<svg class="sequence"') == 1 + len(watch.leaves())
    assert 'class="since"' in page
    first = page.index("tone tone-bad")
    assert all(first <= page.index(f'id="leaf-{k}"') + 500 for k in watch.leaves().leaf)


def test_the_page_of_a_watch_without_rows_has_no_drawing():
    page = render_watch(Watch(fitted()).to_dict())
    assert '<svg class="sequence"' not in page
    assert "No alarm after 0 rows" in text_of(page)


@pytest.mark.parametrize("with_rows", [True, False])
def test_the_page_of_a_diff_has_both_trees_and_the_rows_between_them(with_rows):
    X, y = table(72, 200)
    other = TreeClassifier(levels_from="honest", max_leaves=3, random_state=1).fit(*table(73, 300))
    found = diff(fitted(), other, *((X, y) if with_rows else ()))
    page = render_diff(found.to_dict())
    assert page.count('class="flow ') == (0 if found.flows is None else len(found.flows))
    assert ("No rows were given." in text_of(page)) is not with_rows
    for tree in (fitted(), other):
        for leaf, label in zip(tree.leaves().leaf, tree.leaves().prediction, strict=True):
            assert f": {label}" in text_of(page)
            assert f'<tspan class="soft">{leaf} </tspan>' in page
    assert found.headline in text_of(page)


def test_the_page_of_a_tree_and_itself_says_so():
    page = render_diff(diff(fitted(), fitted()).to_dict())
    assert "The two trees are the same" in text_of(page)


def test_names_of_the_data_cannot_become_markup():
    rng = np.random.default_rng(0)
    rows = [{BAD: float(x), "b": BAD if x > 0.5 else "y"} for x in rng.random(200)]
    import pandas as pd

    X = pd.DataFrame(rows)
    tree = TreeClassifier(levels_from="honest", random_state=0).fit(X, X["b"])
    watch = Watch(tree).add(X[:50], [None] * 50)
    pages = [render_watch(watch.to_dict()), render_diff(diff(tree, tree, X).to_dict())]
    for page in pages:
        assert BAD not in page


def test_a_page_is_made_from_plain_values():
    watch = Watch(fitted()).add(*table(70, 100))
    document = json.loads(json.dumps(watch.to_dict(), allow_nan=False))
    assert render_watch(document) == render_watch(watch.to_dict())
