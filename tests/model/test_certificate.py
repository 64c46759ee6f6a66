"""Certificates, simultaneous limits, prediction sets and Venn probabilities of fitted trees."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import sureleaf
from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.json_text import from_json, to_json

pytestmark = pytest.mark.usefixtures("few_rounds")


def table(n, seed, n_classes=2):
    """Draw rows whose class depends on two of three columns, one of them with categories."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2))
    group = rng.integers(0, 3, n)
    score = (x[:, 0] > 0.5) * 1.5 + (group == 2) + rng.normal(0, 0.8, n)
    y = np.digitize(score, [0.9, 1.8][: n_classes - 1])
    return [[*line, "abc"[g]] for line, g in zip(x.tolist(), group, strict=True)], y


@pytest.fixture(scope="module")
def honest():
    X, y = table(600, 0)
    return TreeClassifier(levels_from="honest", random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def plain():
    X, y = table(300, 1)
    return TreeClassifier(random_state=0).fit(X, y)


def test_counts_are_of_rows_that_did_not_grow_the_tree(honest):
    held_out = honest.model_.held_out
    assert (held_out.n_grown, held_out.n_rows) == (300, 300)
    leaves = honest.tree_.leaf_ids
    assert (held_out.counts[leaves] == honest.leaf_counts_.counts).all()
    assert not held_out.named_before


def test_rows_are_set_aside_without_looking_at_their_classes():
    X, y = table(200, 2)
    first = TreeClassifier(levels_from="honest", random_state=3, pruning=None, max_depth=0)
    totals = first.fit(X, y).model_.held_out.counts.sum(axis=0)
    assert totals[0] != (y == 0).sum() // 2  # stratified parts would have equal shares
    shuffled = first.fit(X, 1 - y).model_.held_out.counts.sum(axis=0)
    assert (totals == shuffled[::-1]).all()  # the same rows, whatever their classes


def test_the_limits_of_the_table_are_those_of_the_certificate(honest):
    certificate = honest.certificate(alpha=0.1)
    leaves = honest.leaves(level=0.95, confidence=0.95, guarantee="simultaneous")
    assert (leaves.low == certificate.leaves.low).all()
    assert (leaves.flagged == ~certificate.leaves.certified).all()
    assert leaves.confidence == pytest.approx(1 - certificate.leaves.p_value)
    assert leaves.levels_from == "held_out"
    assert "all leaves at once" in leaves.notes()[0]
    # One leaf by hand: two-sided, since these rows named the class; Sidak for all leaves.
    n, k = certificate.leaves.n[0], certificate.leaves.n_correct[0]
    tail = (1 - 0.95 ** (1 / (certificate.leaves.n > 0).sum())) / 2
    assert binom.sf(k - 1, n, certificate.leaves.low[0]) == pytest.approx(tail)


def test_a_certificate_says_how_many_rows_and_how_surely(honest):
    certificate = honest.certificate()
    text = str(certificate)
    assert "300 rows grew the tree. 300 rows, which took no part in growing it" in text
    assert "Error probability of the whole: at most 5.0 %" in text
    certified = certificate.leaves.leaf[certificate.leaves.certified]
    assert len(certified) >= 2
    if len(certified) == 2:
        assert f"Neither leaf {certified[0]} nor leaf {certified[1]} names the wrong" in text
    else:
        assert f"None of the leaves {certified[0]}" in text
    written = json.loads(json.dumps(certificate.to_dict()))
    assert written["statements"] == certificate.statements
    assert [leaf["certified"] for leaf in written["leaves"]] == (
        certificate.leaves.certified.tolist()
    )
    assert sum(leaf["n"] for leaf in written["leaves"]) == 300
    assert honest.certificate().fingerprint == certificate.fingerprint


def test_the_sentences_of_a_certificate_fit_its_leaves(honest):
    certificate = honest.certificate()
    table = certificate.leaves
    numbers = table.leaf.tolist()

    def text(n_certified, **changed):
        certified = np.arange(len(table)) < n_certified
        leaves = replace(table, certified=certified, low=np.full(len(table), 0.49))
        return " ".join(replace(certificate, leaves=leaves, **changed).statements)

    assert f"Leaf {numbers[0]} names its true majority class." in text(1)
    assert f"Limits include 50 %, but leaf {numbers[0]} is certified:" in text(1)
    assert f"Neither leaf {numbers[0]} nor leaf {numbers[1]} names the wrong class." in text(2)
    assert f"None of the leaves {numbers[0]}, {numbers[1]} and {numbers[2]} names" in text(3)
    at_costs = text(1, at_costs=True)
    assert "Nothing is proven about the decision of" in at_costs
    assert "The probability of the class that is decided for lies within" in at_costs
    assert "Limits include 50 %" not in at_costs


@pytest.mark.parametrize("call", ["certificate", "leaves", "predict_set", "predict_venn"])
def test_a_tree_without_held_out_rows_gives_no_guarantee(plain, call):
    calls = {
        "certificate": plain.certificate,
        "leaves": lambda: plain.leaves(guarantee="simultaneous"),
        "predict_set": lambda: plain.predict_set([[0.1, 0.2, "a"]]),
        "predict_venn": lambda: plain.predict_venn([[0.1, 0.2, "a"]]),
    }
    with pytest.raises(InvalidArgumentError, match=r"levels_from='honest'.*certify"):
        calls[call]()


def test_rows_that_grew_the_tree_cannot_certify_it(plain):
    X, y = table(300, 1)
    with pytest.raises(InvalidArgumentError, match="has not seen"):
        plain.certify(X, y)
    with pytest.raises(InvalidArgumentError, match="given together"):
        plain.certificate(X)
    with pytest.raises(InvalidArgumentError, match="rows"):
        plain.certify(np.empty((0, 3), dtype=object), np.empty(0, dtype=int))


@pytest.mark.parametrize("kind", ["weights", "groups", "class_weight", "pruned"])
def test_rows_that_are_not_independent_draws_give_no_guarantee(kind):
    X, y = table(200, 4)
    model = TreeClassifier(levels_from="honest", random_state=0, pruning=None, max_depth=2)
    if kind == "weights":
        model.fit(X, y, sample_weight=np.arange(200) % 3)
    elif kind == "groups":
        model.fit(X, y, groups=np.arange(200) // 2)
    elif kind == "class_weight":
        model.set_params(class_weight="balanced").fit(X, y)
    else:
        model = model.fit(X, y).prune(n_leaves=2)
    with pytest.raises(InvalidArgumentError, match=r"weights|groups|has none"):
        model.certificate()


def test_other_rows_certify_any_tree_and_change_nothing_else(plain):
    X, y = table(400, 5)
    certified = plain.certify(X, y)
    assert (certified.predict(X) == plain.predict(X)).all()
    assert certified.levels() == plain.levels()
    certificate = plain.certificate(X, y)
    assert certificate.to_dict() == certified.certificate().to_dict()
    assert (certificate.n_grown, certificate.n_certifying) == (300, 400)
    # Named by other rows, one leaf by hand: the one-sided test.
    table_ = certificate.leaves
    worst = table_.p_value.argmax()
    p_value = binom.sf(table_.n_correct[worst] - 1, table_.n[worst], 0.5)
    assert table_.p_value[worst] == pytest.approx(p_value)


def test_saved_models_keep_their_guarantees(honest, tmp_path):
    X, _ = table(20, 6)
    honest.save(tmp_path / "honest.sureleaf")
    for copy in (sureleaf.load(tmp_path / "honest.sureleaf"), from_json(to_json(honest))):
        assert copy.certificate().to_dict() == honest.certificate().to_dict()
        assert (copy.predict_set(X) == honest.predict_set(X)).all()


def test_sets_are_those_of_the_leaf_and_always_hold_the_majority(honest):
    X, y = table(2000, 7)
    sets = honest.predict_set(X, alpha=0.2)
    counts = honest.model_.held_out.counts[honest.apply(X)]
    assert sets[np.arange(len(X)), counts.argmax(axis=1)].all()
    held = sets[np.arange(len(X)), y]
    for leaf in honest.tree_.leaf_ids:  # a sample: within four standard errors of 80 %
        inside = honest.apply(X) == leaf
        error = np.sqrt(0.16 / inside.sum() + 0.16 / (counts[inside][0].sum() + 1))
        assert held[inside].mean() > 0.8 - 4 * error
    for per in ("class", None):
        assert honest.predict_set(X, alpha=0.2, per=per)[np.arange(len(X)), y].mean() > 0.75
    assert honest.predict_set(X, alpha=1e-4).all()  # too few rows to rule anything out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must be a number above 0"),
        ({"alpha": 1}, "alpha must be below 1"),
        ({"alpha": 5}, "Did you mean 0.05"),
        ({"alpha": "x"}, "alpha"),
        ({"per": "node"}, "per must be"),
    ],
)
def test_bad_options_are_named(honest, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        honest.predict_set([[0.1, 0.2, "a"]], **options)
    if "alpha" in options:
        with pytest.raises(InvalidArgumentError, match=message):
            honest.certificate(**options)
    with pytest.raises(InvalidArgumentError, match="guarantee must be"):
        honest.leaves(guarantee="exact")


def test_a_leaf_without_held_out_rows_is_named_and_claims_nothing(plain):
    X, y = table(400, 5)
    leaf = plain.apply(X)
    kept = leaf != leaf[0]
    certificate = plain.certificate([X[i] for i in np.flatnonzero(kept)], y[kept])
    line = certificate.leaves.leaf.tolist().index(leaf[0])
    assert certificate.leaves.low[line] == 0
    assert certificate.leaves.high[line] == 1
    assert not certificate.leaves.certified[line]
    assert any(f"Leaf {leaf[0]} has no certifying rows" in s for s in certificate.statements)


def test_one_class_among_the_held_out_rows_is_said(plain):
    X, y = table(400, 5)
    ones = np.flatnonzero(y == 1)
    certificate = plain.certificate([X[i] for i in ones], y[ones])
    assert any("All certifying rows are of class 1" in s for s in certificate.statements)


def test_three_classes_and_costs_have_certificates():
    X, y = table(900, 8, n_classes=3)
    model = TreeClassifier(levels_from="honest", random_state=0, max_leaves=4).fit(X, y)
    assert model.certificate().leaves.certified.any()
    costly = model.with_cost([[0, 1, 9], [1, 0, 1], [9, 1, 0]])
    certificate = costly.certificate()
    assert certificate.at_costs
    assert "decision" in " ".join(certificate.statements)
    X, y = table(900, 8)
    model = TreeClassifier(levels_from="honest", random_state=0, cost=[[0, 1], [4, 0]]).fit(X, y)
    line = model.certificate().leaves
    assert (line.p_value <= 1).all()


def test_rows_that_stop_above_the_leaves_are_counted():
    X, y = table(300, 1)
    model = TreeClassifier(unseen="stop", random_state=0).fit(X, y)
    new, labels = table(100, 9)
    with pytest.warns(UserWarning, match="categories"):
        certificate = model.certificate([[*row[:2], "new"] for row in new], labels)
    tests_category = (model.tree_.feature == 2).any()
    assert tests_category
    assert certificate.n_outside > 0
    assert any("stopped above the leaves" in s for s in certificate.statements)


def test_venn_probabilities_hold_the_merged_one():
    X, y = table(300, 10, n_classes=3)
    model = TreeClassifier(levels_from="honest", leaf_estimate="venn", random_state=0).fit(X, y)
    low, high = model.predict_venn(X)
    merged = model.predict_proba(X)
    assert (low <= merged + 1e-12).all()
    assert (merged <= high + 1e-12).all()
    n = model.model_.held_out.counts.sum(axis=1)[model.apply(X)]
    assert (high - low) == pytest.approx(np.repeat(1 / (n + 1), 3).reshape(-1, 3))
    one, other = (
        TreeClassifier(max_depth=0, pruning=None, leaf_estimate=name).fit(
            [[0]] * 5, [0, 0, 0, 1, 1]
        )
        for name in ("venn", "jeffreys")
    )
    assert one.predict_proba([[0]]) == pytest.approx(other.predict_proba([[0]]))  # two classes


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_a_part_of_the_rows_of_the_fit_cannot_certify_the_tree(plain, honest, tmp_path, share):
    for model, (n, seed) in ((plain, (300, 1)), (honest, (600, 0))):
        X, y = table(n, seed)
        part = np.random.default_rng(0).permutation(n)[: int(share * n)].tolist()
        seen_X, seen_y = [X[k] for k in part], y[part]
        fresh_X, fresh_y = table(400, 8)
        model.save(tmp_path / "tree.sureleaf")
        copies = (model, sureleaf.load(tmp_path / "tree.sureleaf"), from_json(to_json(model)))
        for copy in copies:
            with pytest.raises(InvalidArgumentError, match=r"\d+ of the \d+ rows .*are equal"):
                copy.certify(seen_X, seen_y)
            with pytest.raises(InvalidArgumentError, match="has not seen"):  # mixed with new rows
                copy.certificate(seen_X + fresh_X[:90], np.concatenate([seen_y, fresh_y[:90]]))
            fresh = copy.certificate(fresh_X, fresh_y)
            assert (fresh.n_equal, fresh.stated_new) == (0, False)
            compared = f"of the {fresh.n_compared} that can be compared with the rows of its fit"
            assert f"400 rows certify it: {compared}, none is equal to one of them." in str(fresh)


def test_rows_that_equal_rows_of_the_fit_by_chance_are_counted_not_refused():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (900, 3)), rng.integers(0, 2, 900)
    model = TreeClassifier(levels_from="training").fit(X[:500], y[:500])
    certificate = model.certificate(X[500:], y[500:], rows_are_new=True)
    equal = [
        [*row, label] in np.column_stack([X[:500], y[:500]]).tolist()
        for row, label in zip(X[500:].tolist(), y[500:].tolist(), strict=True)
    ]
    assert (certificate.n_compared, certificate.n_equal) == (400, sum(equal))
    assert f"{sum(equal)} of 400 certifying rows are equal to a row of the fit" in str(certificate)
    assert json.loads(json.dumps(certificate.to_dict()))["n_equal"] == sum(equal)


def test_rows_of_large_tables_are_recognised_by_a_sample_of_them():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9000, 3))
    X[rng.random((9000, 3)) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=9000) > 0).astype(int)
    model = TreeClassifier(levels_from="training", max_depth=2).fit(X[:6000], y[:6000])
    seen = model.model_.seen
    assert (len(seen.fingerprints), seen.is_complete) == (256, False)
    with pytest.raises(InvalidArgumentError, match="rows that can be compared are equal"):
        model.certify(X[:900], y[:900])
    found = model.certify(X[6000:], y[6000:]).model_.held_out
    assert found.n_equal == 0
    assert 80 < found.n_compared < 190  # the 256 smallest of 6,000: about 128 of 3,000


def test_damaged_fingerprints_are_refused(plain):
    written = json.loads(to_json(plain))
    for change in (
        {"fingerprints": "?"},
        {"fingerprints": "AAAA"},
        {"fingerprints": ""},
        {"n_twins": -1},
        {"n_sampled": 1},
        {"n_sampled": "many"},
    ):
        damaged = json.loads(json.dumps(written))
        damaged["seen"] |= change
        with pytest.raises(InvalidArgumentError):
            from_json(json.dumps(damaged))


def test_forgotten_rows_are_still_recognised():
    X, y = table(120, 1)
    model = TreeClassifier(random_state=0, pruning=None, max_depth=2).fit(X, y).forget_rows()
    with pytest.raises(InvalidArgumentError, match="30 of the 30 rows are equal to rows of its fi"):
        model.certify(X[:30], y[:30])


def test_a_model_that_cannot_tell_needs_the_word_of_the_user_and_states_it(tmp_path):
    X, y = table(300, 1)
    known = TreeClassifier(random_state=0, max_depth=2).fit(X, y)
    unknown = TreeClassifier(random_state=0, max_depth=2).fit(X, y)
    unknown.forget_rows().model_ = known.complete_model().with_seen(None)
    fresh_X, fresh_y = table(200, 8)
    with pytest.raises(InvalidArgumentError, match=r"0 of 200 rows can be .*rows_are_new=True"):
        unknown.certificate(fresh_X, fresh_y)
    certified = unknown.certify(fresh_X, fresh_y, rows_are_new=True)
    certificate = certified.certificate()
    assert certificate.stated_new
    assert "is the user's word: the model cannot tell." in certificate.statements[0]
    assert "took no part in growing it, certify" not in str(certificate)
    assert json.loads(json.dumps(certificate.to_dict()))["stated_new"] is True
    certified.save(tmp_path / "tree.sureleaf")
    loaded = sureleaf.load(tmp_path / "tree.sureleaf")
    assert loaded.certificate().to_dict() == certificate.to_dict()
    assert not known.certificate(fresh_X, fresh_y).stated_new


def test_a_word_that_rows_are_new_is_not_believed_if_they_are_recognised(plain):
    X, y = table(300, 1)
    with pytest.raises(InvalidArgumentError, match="are equal to rows of its fit"):
        plain.certificate(X[:100], y[:100], rows_are_new=True)


def test_too_few_comparable_rows_of_a_large_fit_need_the_word_of_the_user():
    """Of 20 of 60,000 rows, about 0.1 can be compared with the 256 that the model keeps."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60_000, 2)), rng.integers(0, 2, 60_000)
    model = TreeClassifier(levels_from="training", pruning=None, max_depth=1).fit(X, y)
    with pytest.raises(InvalidArgumentError, match=r"this model cannot tell: [012] of 20 rows"):
        model.certificate(X[:20], y[:20])
    assert model.certificate(X[:20], y[:20], rows_are_new=True).stated_new


def test_where_all_rows_have_twins_a_certificate_needs_the_word_of_the_user():
    X = [[k % 4] for k in range(400)]
    model = TreeClassifier(levels_from="training").fit(X, [k % 2 for k in range(400)])
    with pytest.raises(InvalidArgumentError, match="too many rows of its fit are equal to each"):
        model.certificate(X[:60], [k % 2 for k in range(60)])
    assert model.certificate(X[:60], [k % 2 for k in range(60)], rows_are_new=True).stated_new
