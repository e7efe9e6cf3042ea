"""Private selection of columns: its law, its place in scikit-learn, what is refused."""

from itertools import product
from math import exp

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

import dpselect as dp
from dpselect.trees import ID3Classifier, PrivateSelectKBest
from dpselect.trees.counts import MemoryCounts
from dpselect.trees.criteria import objective_of
from dpselect.trees.domains import Schema
from dpselect.trees.id3 import drawn_by

PUBLIC = {
    "domains": {"a": [0, 1], "b": [0, 1], "c": ["p", "q", "r"]},
    "classes": [0, 1],
    "max_records": 1000,
}
CODES = list(product(range(2), range(2), range(2)))


def rows(number=400):
    """Return a table whose column ``a`` is the label, and ``b`` most of it."""
    rng = np.random.default_rng(18)
    label = rng.integers(0, 2, number)
    noisy = np.where(rng.random(number) < 0.8, label, 1 - label)
    frame = pl.DataFrame({"a": label, "c": rng.choice(list("pqr"), number), "b": noisy})
    return frame.with_columns(other=pl.lit(7)), label


def law_of(records, epsilon, criterion, relation):
    """Return the exact law of two columns drawn one after the other, by the released law."""
    public = Schema.of({"a": [0, 1], "b": [0, 1]}, [0, 1], ["a", "b"])
    codes = np.array([one[:2] for one in records], dtype=np.int64).reshape(-1, 2)
    labels = np.array([one[2] for one in records], dtype=np.int64)
    [tables] = MemoryCounts.of_records(public, codes, labels).tables(0, 1)
    objective = objective_of(criterion, tables, ["a", "b"], max_records=4)
    steps = 2 if relation is dp.Neighbours.SUBSTITUTE else 1
    # Of two columns the first draw says all; each of two draws has half of epsilon.
    return drawn_by(None, epsilon / steps / 2, criterion, 4).probabilities(objective)


@pytest.mark.slow
@pytest.mark.parametrize("criterion", ["information-gain", "gini", "majority"])
def test_draws_are_private_by_enumeration(criterion):
    """All databases of up to 3 records of 2 columns and a label, and one record more."""
    from itertools import combinations_with_replacement

    known, worst = {}, 0.0
    added, replaced = dp.Neighbours.ADD_REMOVE, dp.Neighbours.SUBSTITUTE
    for number in range(3):
        for records in combinations_with_replacement(CODES, number):
            for relation in (added, replaced):
                known[records, relation] = law_of(records, 2.0, criterion, relation)
            for one in CODES:
                more = tuple(sorted((*records, one)))
                known.setdefault((more, added), law_of(more, 2.0, criterion, added))
                ratio = known[more, added] / known[records, added]
                worst = max(worst, ratio.max(), (1 / ratio).max())
    for records in (key for key, relation in known if relation is replaced and key):
        for one in CODES:
            other = tuple(sorted((*records[1:], one)))
            ratio = known[other, replaced] / known[records, replaced]
            assert max(ratio.max(), (1 / ratio).max()) <= exp(1.0) * (1 + 1e-9)

    assert exp(0.25) < worst <= exp(1.0) * (1 + 1e-9)


def test_the_best_columns_are_kept():
    x, y = rows()
    best = PrivateSelectKBest(epsilon=500.0, k=2, **PUBLIC).fit(x, y)

    assert best.selected_ == ("a", "b")
    assert best.get_support().tolist() == [True, False, True, False]
    assert best.get_feature_names_out().tolist() == ["a", "b"]
    assert best.transform(x).shape == (400, 2)
    kept = best.set_output(transform="polars").transform(x)
    assert kept.columns == ["a", "b"]
    assert best.fit(x.with_columns(label=y).lazy(), "label").selected_ == ("a", "b")
    assert not hasattr(best, "scores_")


def test_a_tree_grows_on_the_columns_that_were_kept():
    x, y = rows()
    steps = make_pipeline(
        PrivateSelectKBest(epsilon=500.0, k=2, **PUBLIC).set_output(transform="polars"),
        ID3Classifier(epsilon=500.0, max_depth=2, **PUBLIC),
    )

    assert steps.fit(x, y).score(x, y) == 1.0
    assert steps[-1].tree_.schema.names == ("a", "b")
