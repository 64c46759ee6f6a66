import pickle
import re
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.model_selection import KFold

from sureleaf import TreeClassifier, audit, levels, rank_columns
from sureleaf.errors import InvalidArgumentError
from sureleaf.model.leaf_table import kind_of_confidence

pytestmark = pytest.mark.usefixtures("few_rounds")


def noisy(n=300, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    X["kind"] = np.array(["u", "v", "w"])[rng.integers(0, 3, n)]
    score = X["a"] + rng.normal(size=n)
    y = np.digitize(score, np.linspace(-1, 1, n_classes + 1)[1:-1])
    return X, np.array(["no", "yes", "maybe", "never"])[y]


SOURCES = ("training", "honest", "cross_fit")


@pytest.fixture(scope="module")
def model():
    X, y = noisy()
    return TreeClassifier.c45(random_state=0).fit(X, y)


@pytest.mark.parametrize("method", ["mle", "blend", "entropic"])
@pytest.mark.parametrize("pruning", ["pessimistic", None, "utility"])
def test_levels_of_training_rows_are_those_of_the_paper(pruning, method):
    X, y = noisy()
    model = TreeClassifier.c45(levels_from="training", pruning=pruning, random_state=0).fit(X, y)
    table, found = model.leaves(method=method), model.levels(method=method)
    n, shares = table.n.sum(), table.n / table.n.sum()
    p_max = levels.estimate_p_max(table.counts.max(axis=1), table.n, method=method)
    np.testing.assert_allclose(table.probability, p_max, atol=1e-12)
    sure = levels.node_confidence(n, shares, p_max)
    np.testing.assert_allclose(table.confidence, sure, atol=1e-12)
    useful = levels.node_utility(n, shares, p_max)
    np.testing.assert_allclose(table.utility, useful, atol=1e-12)
    assert found == pytest.approx(tuple(levels.tree_levels(n, shares, p_max)), abs=1e-12)
    if method == "mle":
        assert model.levels() == found


def test_rows_needed_by_the_paper_are_the_fewest_that_give_a_leaf_of_its_share_the_levels():
    X, y = noisy()
    model = TreeClassifier.c45(pruning=None, levels_from="training").fit(X, y)
    table = model.leaves(confidence=0.999)
    known = np.flatnonzero(~np.isnan(table.rows_needed) & table.flagged)
    assert len(known)
    for line in known:
        share, p_max = table.n[line] / table.n.sum(), table.probability[line]
        rows = table.rows_needed[line]
        assert levels.node_confidence(rows / share, share, p_max) >= 0.999
        assert levels.node_confidence((rows - 1) / share, share, p_max) < 0.999


def test_a_method_goes_with_levels_of_training_rows_of_two_classes():
    X, y = noisy()
    with pytest.raises(InvalidArgumentError, match="method must go with levels of training rows"):
        TreeClassifier.c45().fit(X, y).levels(method="mle")
    three = TreeClassifier.c45(levels_from="training").fit(*noisy(n_classes=3))
    with pytest.raises(InvalidArgumentError, match="two classes and equal costs"):
        three.leaves(method="entropic")
    with pytest.raises(InvalidArgumentError, match="'mle'"):
        three.leaves(method="median")


def test_one_split_has_the_levels_of_the_ranking_of_its_column():
    # Zhang (2024), Example 3: Humidity; .8145 and .6828 by (9) to (11).
    humidity = [[value] for value in "HHHHNNNHNNNHNH"]
    play = list("NNYYYNYNYYYYYN")
    model = TreeClassifier.c45(levels_from="training", pruning=None).fit(humidity, play)
    assert model.levels() == pytest.approx((0.8145, 0.6828), abs=5e-5)
    for method in (None, "mle", "blend", "entropic"):
        ranking = rank_columns(humidity, play, levels_from="training", method=method)
        assert model.levels(method=method) == (ranking.confidence[0], ranking.utility[0])


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("source", ["honest", "cross_fit"])
def test_confidence_is_the_posterior_probability_of_an_accuracy_above_a_tie(source, n_classes):
    X, y = noisy(n_classes=n_classes)
    model = TreeClassifier.c45(levels_from=source, random_state=0).fit(X, y)
    table, stated = model.leaves(), model.complete_model().node_levels()
    for line, leaf in enumerate(table.leaf.tolist()):
        tie = 0.5 if n_classes == 2 else stated.ties[leaf]
        assert 1 / n_classes <= tie <= 0.5
        a, s = table.utility[line], stated.strength[leaf]
        above = beta(a * s, (1 - a) * s).sf(tie)
        assert table.confidence[line] == pytest.approx(above, abs=1e-9)


@pytest.mark.parametrize("source", SOURCES)
def test_the_utility_of_a_tree_has_an_interval_unless_it_is_of_training_rows(source):
    X, y = noisy()
    found = TreeClassifier.c45(levels_from=source, random_state=0).fit(X, y).levels()
    sure, useful = found
    assert (sure, useful) == (found.confidence, found.utility)
    if source == "training":
        assert np.isnan([found.low, found.high]).all()
    else:
        assert found.low < useful < found.high
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.level == 0.95


def test_the_interval_of_cross_fitted_utility_has_twice_the_binomial_variance(model):
    found = model.levels(level=0.9)
    s = 300 / 2 - 1
    interval = beta(found.utility * s, (1 - found.utility) * s).ppf([0.05, 0.95])
    assert (found.low, found.high) == pytest.approx(tuple(interval))


@pytest.mark.parametrize("source", SOURCES)
def test_levels_are_the_share_weighted_sums_over_the_leaves(source):
    X, y = noisy()
    model = TreeClassifier.c45(levels_from=source, random_state=0).fit(X, y)
    table, found = model.leaves(), model.levels()
    shares = table.n / table.n.sum()
    assert found.confidence == pytest.approx(shares @ table.confidence)
    assert found.utility == pytest.approx(shares @ table.utility)


@pytest.mark.parametrize("source", SOURCES)
def test_a_row_has_the_levels_of_its_leaf(source):
    X, y = noisy()
    model = TreeClassifier.c45(levels_from=source, random_state=0).fit(X, y)
    table, rows = model.leaves(), model.predict_levels(X)
    place = np.searchsorted(table.leaf, rows.leaf)
    for column in ("confidence", "utility", "low", "high"):
        np.testing.assert_allclose(getattr(rows, column), getattr(table, column)[place], atol=1e-12)
    np.testing.assert_array_equal(rows.prediction, model.predict(X))
    np.testing.assert_array_equal(rows.prediction, table.prediction[place])
    assert not rows.imputed_share.any()


def test_a_fractional_row_is_the_mixture_of_its_leaves():
    model = TreeClassifier.c45(random_state=0).fit(*noisy())
    X, _ = noisy(n=4, seed=9)
    X.loc[0, "a"] = np.nan
    rows, table = model.predict_levels(X), model.leaves()
    shares = model.leaf_shares(X).toarray()[0, table.leaf]
    agrees = table.prediction == rows.prediction[0]
    expected = shares @ np.where(agrees, table.utility, 1 - table.utility)
    assert rows.utility[0] == pytest.approx(expected)
    expected = shares @ np.where(agrees, table.confidence, 1 - table.confidence)
    assert rows.confidence[0] == pytest.approx(expected)
    assert rows.imputed_share[0] > 0
    assert rows.imputed_share[1:].tolist() == [0.0] * 3


def test_abstains_exactly_where_confidence_is_too_low(model):
    X, _ = noisy(seed=3)
    sure = model.predict_levels(X).confidence
    bound = float(np.median(sure))
    found = model.predict_or_abstain(X, min_confidence=bound, abstain="?")
    np.testing.assert_array_equal(found == "?", sure < bound)
    np.testing.assert_array_equal(found[sure >= bound], model.predict(X)[sure >= bound])
    assert model.predict_or_abstain(X, min_confidence=1.0)[sure < 1].tolist().count("no") == 0


@pytest.mark.usefixtures("all_rounds")
def test_a_round_of_cross_fitting_costs_ten_trees_and_only_when_asked(monkeypatch):
    """And ten more if a small table chooses the strength of pruning: the pairs of five parts."""
    from sureleaf.model import fitting

    grown = []
    real = fitting.grow
    monkeypatch.setattr(fitting, "grow", lambda *a, **k: grown.append(1) or real(*a, **k))
    X, y = noisy()
    for pruning, of_fit, of_round in (
        ("pessimistic", 1, 10),
        ("cost_complexity", 11, 20),
        ("utility", 11, 20),
    ):
        grown.clear()
        model = TreeClassifier.c45(pruning=pruning, random_state=0).fit(X, y)
        assert len(grown) == of_fit
        n_rounds = model.leaves().n_rounds
        assert 4 <= n_rounds <= 40
        all_grown, of_levels = len(grown), of_round * n_rounds
        of_recurrence = all_grown - of_fit - of_levels  # trees of half the rows
        assert of_recurrence == min(24, 2 * n_rounds)
        model.levels(), model.predict_levels(X)
        assert len(grown) == all_grown


@pytest.mark.usefixtures("all_rounds")
def test_rounds_end_when_the_luck_of_the_folds_is_small_and_the_error_is_stated():
    X = np.arange(200.0)[:, np.newaxis]
    clear = TreeClassifier.c45(random_state=0).fit(X, X[:, 0] > 99).leaves()
    assert clear.n_rounds == 4
    assert clear.confidence_error.max() <= 0.01
    assert "the mean over 4 rounds of cross-validation" in clear.notes()[0]
    table = TreeClassifier.c45(random_state=0).fit(*noisy()).leaves()
    assert table.n_rounds == 40 or table.confidence_error.max() <= 0.01
    assert f"{100 * table.confidence_error.max():.1f} percentage" in table.notes()[0]
    given = TreeClassifier.c45(cv=KFold(5)).fit(*noisy()).leaves()
    assert given.n_rounds == 1  # the folds are not a matter of luck
    assert np.isnan(given.confidence_error).all()
    assert "one round" in given.notes()[0]
    training = TreeClassifier.c45(levels_from="training").fit(*noisy()).leaves()
    assert training.confidence_error.tolist() == [0.0] * len(training)


@pytest.mark.usefixtures("all_rounds")
@pytest.mark.parametrize("n_seeds", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_the_stated_error_is_that_of_other_seeds_and_flags_hardly_depend_on_the_seed(n_seeds):
    confidences, errors, flags = [], [], []
    for seed in range(n_seeds):
        table = TreeClassifier.c45(random_state=seed).fit(*noisy(n=200, seed=4)).leaves()
        confidences.append(table.confidence)
        errors.append(table.confidence_error)
        flags.append(table.flagged)
    spread = np.std(confidences, axis=0, ddof=1)
    stated = np.sqrt(np.mean(np.square(errors), axis=0))
    assert np.sqrt(np.mean(spread**2)) < 2 * np.sqrt(np.mean(stated**2))
    assert stated.max() < 0.05
    changes = np.mean([first != second for first, second in pairwise(flags)])
    assert changes <= 0.01


def test_the_same_seed_gives_the_same_levels_with_any_number_of_threads():
    tables = [
        TreeClassifier.c45(random_state=3, n_jobs=jobs).fit(*noisy(n=120)).leaves()
        for jobs in (1, 3, 1)
    ]
    for other in tables[1:]:
        np.testing.assert_array_equal(tables[0].confidence, other.confidence)
        np.testing.assert_array_equal(tables[0].confidence_error, other.confidence_error)


@pytest.mark.parametrize("source", SOURCES)
def test_a_second_fit_forgets_the_levels_of_the_first(source):
    model = TreeClassifier.c45(levels_from=source, random_state=0).fit(*noisy(seed=1))
    model.levels()
    fresh = TreeClassifier.c45(levels_from=source, random_state=0).fit(*noisy(seed=2))
    assert model.fit(*noisy(seed=2)).levels() == fresh.levels()


def test_a_tree_pruned_without_its_rows_has_training_levels_and_says_so(model):
    X, y = noisy()
    small = TreeClassifier.c45(random_state=0).fit(X, y).forget_rows().prune(n_leaves=2)
    assert small.leaves().levels_from == "training"
    assert "shaped the tree" in repr(small.leaves())
    assert len(small.predict_levels(X)) == len(X)
    assert "Levels come from out-of-fold predictions" in repr(model.leaves())


WAYS = {
    "leaves": {"n_leaves": 5},
    "nodes": {"nodes": [1]},
    "penalty": {"rule": "cost_complexity", "ccp_alpha": 0.004},
    "pessimistic": {"rule": "pessimistic"},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_pruned_tree_keeps_levels_of_unseen_rows(way):
    """Levels from the counts of a tree that was grown to the end are far too high."""
    gaps, shortfalls = [], []
    for seed in range(3):
        X, y = noisy(n=300, seed=seed)
        Z, truth = noisy(n=5000, seed=100 + seed)
        grown = TreeClassifier.c45(
            criterion="gini", pruning=None, collapse=False, min_samples_leaf=1, random_state=seed
        ).fit(X, y)
        small = grown.prune(**WAYS[way])
        assert small.tree_.n_leaves < grown.tree_.n_leaves
        assert small.levels_from == small.leaves().levels_from == "cross_fit"
        gaps.append(small.levels().utility - small.score(Z, truth))
        shortfalls.append(grown.levels().utility - small.levels().utility)
        again = pickle.loads(pickle.dumps(small))
        assert again.levels() == small.levels()
    assert abs(np.mean(gaps)) < 0.05  # the standard error of a mean of three is about 0.02


def test_a_tree_that_pruning_does_not_cut_keeps_its_levels():
    X, y = noisy(n=200)
    fitted = TreeClassifier.c45(random_state=0).fit(X, y)
    same = fitted.prune(n_leaves=1000)
    assert same.levels_from == "cross_fit"
    assert same.levels() == fitted.levels()
    without = fitted.forget_rows().prune(n_leaves=1000)
    assert without.leaves().levels_from == "cross_fit"
    assert without.levels() == fitted.levels()


def test_nodes_that_cannot_be_cut_are_not_passed_over_in_silence(model):
    leaf = int(model.tree_.leaf_ids[0])
    with pytest.warns(UserWarning, match=rf"prune\(nodes=\[{leaf}\]\) cuts nothing.*parent"):
        assert model.prune(nodes=[leaf]).rules() == model.rules()
    for nodes in (leaf, []):
        with pytest.warns(UserWarning, match="cuts nothing"):
            model.prune(nodes=nodes)
    stump = TreeClassifier.c45(max_depth=0).fit(*noisy())
    with pytest.warns(UserWarning, match="single leaf"):
        stump.prune(nodes=[0])


def test_another_leaf_estimate_gets_its_own_levels():
    X, y = noisy()
    model = TreeClassifier.c45(pruning=None, random_state=0).fit(X, y)
    model.levels()

    class Upside:
        def __call__(self, tree, counts):
            shares = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
            return shares[:, ::-1]

    turned = model.with_leaf_estimate(Upside())
    assert turned.levels().utility < 0.5 < model.levels().utility
    table = turned.leaves()
    bad = table.utility < 0.5
    assert bad.any()
    assert (table.confidence[bad] < 0.5).all()
    assert (table.probability[bad] == 0.5).all()
    assert table.flagged[bad].all()
    same = model.with_leaf_estimate("frequency")
    assert same.levels().utility == pytest.approx(model.levels().utility)
    assert same.forget_rows().with_leaf_estimate("laplace").levels() == same.levels()


def test_honest_parts_keep_groups_together():
    X, y = noisy()
    groups = np.arange(300) // 30
    model = TreeClassifier.c45(levels_from="honest", random_state=0).fit(X, y, groups=groups)
    assert model.leaf_counts_.n.sum() % 30 == 0


def test_groups_stay_together_in_cross_fitting():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 10)
    y = np.repeat(rng.integers(0, 2, 30), 10)  # the class is the group's, the column names it
    X = group[:, None] + rng.normal(scale=0.01, size=(300, 1))
    settings = {"criterion": "gini", "pruning": None, "random_state": 0}
    alone = TreeClassifier.c45(**settings).fit(X, y).levels().utility
    together = TreeClassifier.c45(**settings).fit(X, y, groups=group).levels().utility
    assert alone > 0.95
    assert together < 0.8


def test_importance_weights_count_effective_rows():
    X, y = noisy()
    weights = np.random.default_rng(0).gamma(0.3, size=300)
    settings = {"max_depth": 1, "random_state": 0, "levels_from": "training"}
    counted = TreeClassifier.c45(weights="importance", **settings).fit(X, y, sample_weight=weights)
    n = counted.leaf_counts_.n_effective
    table = counted.leaves()
    assert (n < table.n).all()
    n_tree = weights.sum() ** 2 / (weights**2).sum()
    expected = levels.node_confidence(n_tree, n / n_tree, table.probability)
    np.testing.assert_allclose(table.confidence, expected)
    equal = TreeClassifier.c45(weights="importance", **settings).fit(X, y, np.full(300, 7.0))
    assert equal.levels() == TreeClassifier.c45(**settings).fit(X, y).levels()


@pytest.mark.parametrize(("n_classes", "cost"), [(2, None), (3, None), (2, [[0, 5], [1, 0]])])
def test_rows_needed_reach_the_wanted_levels(n_classes, cost):
    model = TreeClassifier(pruning=None, max_leaves=9, cost=cost, random_state=0)
    model.fit(*noisy(n_classes=n_classes))
    table = model.leaves(confidence=0.9)
    stated = model.complete_model().node_levels()
    if cost is not None:
        ties = np.where(table.prediction == model.classes_[0], 1 / 6, 5 / 6)
        assert stated.ties[table.leaf] == pytest.approx(ties)
    assert np.isfinite(table.rows_needed).any()
    for line, (leaf, n) in enumerate(zip(table.leaf, table.n, strict=True)):
        accuracy = stated.accuracy[leaf] * n / (n + 1)  # the next row may be an error
        if np.isnan(table.rows_needed[line]):
            assert cost is None or accuracy <= stated.ties[leaf]
            continue
        if not table.flagged[line] and table.rows_needed[line] == n:
            continue  # it has enough rows, with or without one more error

        def above(rows, leaf=leaf, n=n, accuracy=accuracy):
            s = stated.strength[leaf] * rows / n
            return beta(accuracy * s, (1 - accuracy) * s).sf(stated.ties[leaf])

        assert above(table.rows_needed[line]) >= 0.9 - 1e-9
        assert not above(table.rows_needed[line] - 1) >= 0.9
        total = table.n.sum() * table.rows_needed[line] / n
        assert table.total_rows_needed[line] == pytest.approx(total, abs=1.0)


@pytest.mark.parametrize("levels_from", ["cross_fit", "honest", "training"])
def test_a_leaf_needs_more_rows_than_it_has_only_if_it_is_flagged(levels_from):
    X, y = noisy()
    model = TreeClassifier(pruning=None, levels_from=levels_from, random_state=0).fit(X, y)
    for utility in (None, 0.7):
        table = model.leaves(confidence=0.9, utility=utility)
        assert (table.rows_needed <= table.n)[~table.flagged].all()
        assert not (table.rows_needed <= table.n)[table.flagged].any()
    if levels_from == "honest":
        table = model.leaves(utility=0.99, guarantee="simultaneous")
        assert not (table.rows_needed <= table.n)[table.flagged].any()
    if levels_from == "training":
        with pytest.warns(UserWarning, match="too optimistic"):
            leaves = audit(model, X, y, rows="training").leaves
        assert (leaves.rows_needed <= leaves.n)[~leaves.flagged].all()


def test_what_to_collect_is_told_for_the_leaf_and_in_all_with_its_uncertainty():
    told = []
    for seed in range(4):
        table = TreeClassifier.c45(random_state=seed).fit(*noisy(n=150, seed=seed)).leaves()
        for line in np.flatnonzero(table.flagged):
            if "collect" not in table.repair[line]:
                continue
            told.append(table.repair[line])
            more = table.rows_needed[line] - table.n[line]
            assert more > 1, "nobody is told that a single row is enough"
            in_all = table.total_rows_needed[line] - table.n.sum()
            assert in_all >= more
            first = int(
                re.search(r"collect ([\d,]+) more in this leaf", told[-1])[1].replace(",", "")
            )
            assert 0.95 * more <= first <= 1.05 * more + 1, "it agrees with the rows needed"
            most = re.search(r"to ([\d,]+) in this leaf", told[-1])
            assert not most or int(most[1].replace(",", "")) <= 110 * first
    assert told
    assert all(
        "more in all" in text and ("probably" in text or "possibly" in text) for text in told
    )


def test_a_leaf_has_a_number_of_rows_needed_if_and_only_if_the_advice_can_name_one():
    seen = set()
    for n, seed, slope in ((120, 0, 0.3), (200, 2, 0.2), (300, 1, 0.4)):
        rng = np.random.default_rng(8)
        X = rng.normal(size=(n, 5))
        y = rng.random(n) < 1 / (1 + np.exp(-slope * (X[:, 0] + X[:, 1])))
        table = TreeClassifier(max_leaves=6, margin=0.0, random_state=seed).fit(X, y).leaves()
        for needed, advice in zip(table.rows_needed, table.repair, strict=True):
            if advice and "merge" not in advice:
                assert ("collect" in advice) == np.isfinite(needed)
                seen.add("collect" in advice)
    assert seen == {True, False}


@pytest.mark.parametrize("weights", ["counts", "importance"])
def test_weights_by_class_do_not_make_a_leaf_less_known(weights):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(800, 3))
    y = (rng.random(800) < np.where(X[:, 0] > 0, 0.5, 0.15)).astype(int)
    plain, weighted = (
        TreeClassifier(max_leaves=2, weights=weights, random_state=0).fit(X, y, sample_weight=each)
        for each in (None, np.where(y == 1, 2.5, 1.0))
    )
    strengths = []
    for model in (plain, weighted):
        model.levels()
        strengths.append(model.model_.evidence.strength[model.tree_.is_leaf])
    assert (strengths[1] > 0.4 * strengths[0]).all()


def test_more_rows_are_said_not_to_help_only_where_the_interval_says_so():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 2)).round(1), rng.choice(["a", "b"], 400)
    full = TreeClassifier.c45(criterion="gini", pruning=None, collapse=False, random_state=0).fit(
        X, y
    )
    table = full.leaves(confidence=0.95)
    small = np.isnan(table.rows_needed) & (table.n <= 2)
    assert small.any()
    assert not any("would not help" in text for text in table.repair[small])
    assert "2 rows are too few to tell whether more would help" in " ".join(table.repair)
    root = TreeClassifier.c45(max_depth=0, levels_from="training").fit(X, y)
    assert root.leaves(utility=0.99).high[0] < 0.99
    assert root.leaves(utility=0.99).repair.tolist() == [
        "more rows would not help; other columns might"
    ]


def test_classes_that_tie_need_more_rows_than_there_are():
    """Leaves at a tie are known to be so at once: no doubling up to a million rows."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(150, 3)), rng.choice(3, 150)
    model = TreeClassifier.c45(
        criterion="gini", pruning=None, collapse=False, levels_from="training"
    ).fit(X, y)
    table = model.prune(n_leaves=8).leaves(confidence=0.9, utility=0.4)
    vectors = model.prune(n_leaves=8).complete_model().node_levels().vectors()[table.leaf]
    second, first = np.sort(vectors, axis=1)[:, -2:].T
    tied = first - second < 1e-9
    assert np.isnan(table.rows_needed[tied]).all()
    ns = np.arange(1, 400.0)
    for place in np.flatnonzero(~tied):
        sure = levels.class_confidence(ns, vectors[place])
        useful = levels.class_utility(ns, vectors[place])
        enough = ns[(sure >= 0.9) & (useful >= 0.4)]
        if len(enough) and not np.isnan(table.rows_needed[place]):
            assert table.rows_needed[place] >= enough[0] - 1  # even n may dip below odd


def test_weak_leaves_are_flagged_with_a_remedy_and_fragmentation_is_told():
    X, y = noisy(n=120)
    model = TreeClassifier.c45(criterion="gini", pruning=None, collapse=False, random_state=0)
    table = model.fit(X, y).leaves()
    assert table.flagged.any()
    assert all(table.repair[table.flagged])
    assert not any(table.repair[~table.flagged])
    assert any("collect" in told or "merge" in told for told in table.repair)
    assert table.fragmentation > 0.5
    assert "Data fragmentation" in repr(table)
    only = TreeClassifier(max_leaves=1, random_state=0).fit(X, np.resize(["a", "b"], 120)).leaves()
    assert only.fragmentation == 1.0
    assert "Data fragmentation" not in repr(only), "one leaf cannot be pruned"


def test_tables_become_data_frames_and_html(model):
    X, _ = noisy(n=5)
    for table in (model.leaves(), model.predict_levels(X), model.splits()):
        frame, other = table.to_pandas(), table.to_polars()
        assert list(frame.columns) == list(table.columns()) == other.columns
        assert len(frame) == len(table) == len(other)
        assert table._repr_html_().startswith("<table>")
    assert model.leaves(utility=0.999).to_polars()["rows_needed"].null_count() > 0
    assert model.levels().to_polars().columns == ["confidence", "utility", "low", "high"]
    assert "utility" in str(model.levels())


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda m, X: m.leaves(level=95), "level must be"),
        (lambda m, X: m.leaves(confidence=95), "confidence must be .* Did you mean 0.95"),
        (
            lambda m, X: TreeClassifier.c45(criterion="Gini").fit(X, noisy()[1]),
            "Did you mean 'gini'",
        ),
        (lambda m, X: m.prune("utility"), "TreeClassifier\\(pruning='utility'\\)"),
        (lambda m, X: m.predict_or_abstain(X, min_confidence=2), "min_confidence must be"),
    ],
)
def test_what_cannot_be_used_is_named(model, ask, told):
    with pytest.raises(InvalidArgumentError, match=told):
        ask(model, noisy()[0])


def test_folds_may_be_a_number_a_splitter_a_list_or_an_iterator():
    X, y = noisy()
    parts = list(KFold(5).split(X))
    settings = {"pruning": "cost_complexity", "random_state": 0}
    one, two, three = (
        TreeClassifier.c45(cv=cv, **settings).fit(X, y).levels()
        for cv in (KFold(5), parts, iter(parts))
    )
    assert one == two == three


BAD = {
    "one class": ([[1.0], [2.0], [3.0]], ["a"] * 3, None),
    "one row": ([[1.0]], ["a"], None),
    "two rows": ([[1.0], [2.0]], ["a", "b"], None),
    "three rows": ([[1.0], [2.0], [3.0]], ["a", "b", "b"], None),
    "all rows the same": ([[1.0]] * 8, ["a", "b"] * 4, None),
    "a class of one row": ([[float(i)] for i in range(20)], ["a"] * 19 + ["b"], None),
    "three classes, one of one row": ([[float(i)] for i in range(9)], list("aaaabbbbc"), None),
    "zero weights": ([[float(i)] for i in range(8)], ["a"] * 4 + ["b"] * 4, [1, 0] * 4),
    "a class without weight": ([[1.0], [2.0], [3.0]], ["a", "a", "b"], [1, 1, 0]),
    "tiny weights": ([[float(i)] for i in range(8)], ["a"] * 4 + ["b"] * 4, [1e-6] * 8),
    "missing values": ([[1.0], [None], [3.0], [None]], ["a", "b", "b", "a"], None),
    "all missing": ([[None]] * 6, ["a", "b"] * 3, None),
    "empty leaves": ([[k, float(i)] for i, k in enumerate("uvwuvwuvwx")], list("abcabcabca"), None),
}


@pytest.mark.parametrize("weights", ["counts", "importance"])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", BAD)
def test_poor_data_have_levels_without_nan_or_warning(name, source, weights):
    X, y, sample_weight = BAD[name]
    if source == "honest" and name == "one row":
        with pytest.raises(InvalidArgumentError, match="1 sample"):
            TreeClassifier.c45(levels_from=source).fit(X, y)
        return
    for settings in ({}, {"criterion": "gini", "pruning": None, "min_samples_leaf": 1}):
        model = TreeClassifier.c45(levels_from=source, weights=weights, random_state=0, **settings)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if (name, weights) == ("tiny weights", "counts"):
                warnings.filterwarnings("ignore", "sample_weight has a sum of", UserWarning)
            model.fit(X, y, sample_weight=sample_weight)
            table, rows = model.leaves(utility=0.7), model.predict_levels(X)
            repr(table), model.levels()
        for part in (table, rows):
            for column in ("confidence", "utility", "low", "high"):
                values = getattr(part, column)
                assert ((values >= 0) & (values <= 1 + 1e-12)).all(), (name, column)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-12)


def test_one_group_measures_nothing_and_all_is_flagged():
    X, y = noisy()
    model = TreeClassifier.c45(random_state=0).fit(X, y, groups=np.zeros(300))
    table = model.leaves()
    assert (table.utility == 0.5).all()
    assert table.flagged.all()
    with pytest.raises(InvalidArgumentError, match="honest"):
        TreeClassifier.c45(levels_from="honest").fit(X, y, groups=np.zeros(300))


def test_a_printed_table_keeps_the_end_of_a_long_rule() -> None:
    X = [[f"{'a long name of a category ' * 3}{i % 2}", i] for i in range(40)]
    y = [i % 2 for i in range(40)]
    leaves = TreeClassifier.c45(pruning=None).fit(X, y).leaves()
    assert max(map(len, leaves.rule)) > 64
    shown = repr(leaves).splitlines()[1]
    assert str(leaves.rule[0]) not in shown
    assert f"… {str(leaves.rule[0])[-62:]}" in shown
    assert str(leaves.rule[0]) in leaves._repr_html_().replace("&lt;", "<").replace("&gt;", ">")


@pytest.mark.parametrize("levels_from", ["training", "honest", "cross_fit"])
def test_every_table_of_levels_says_which_confidence_it_has(levels_from):
    X = np.arange(80.0).reshape(-1, 1)
    tree = TreeClassifier(levels_from=levels_from, random_state=0).fit(X, X[:, 0] > 30)
    kind = kind_of_confidence(levels_from)
    assert "docs/levels.md" in kind
    for table in (tree.levels(), tree.leaves(), tree.predict_levels(X[:2])):
        assert kind in str(table)


def test_rows_needed_say_that_they_answer_another_question_than_sample_size():
    X = np.arange(120.0).reshape(-1, 1)
    y = (X[:, 0] > 50) ^ (np.arange(120) % 5 == 0)
    for levels_from, question in (("training", "that many rows"), ("cross_fit", "p_max is known")):
        leaves = TreeClassifier.c45(levels_from=levels_from).fit(X, y).leaves()
        assert np.isfinite(leaves.rows_needed).any()
        assert f"{question}, (5)." in str(leaves)
    for labels, cost in ((X[:, 0].astype(int) // 50, None), (X[:, 0] > 50, [[0, 5], [1, 0]])):
        leaves = TreeClassifier(levels_from="training", cost=cost).fit(X, labels).leaves()
        assert "as in (5) and in sureleaf plan" in str(leaves)
