"""Private selection of columns, before a tree in a pipeline."""

import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline

import dpselect as dp
from dpselect.trees import ID3Classifier
from dpselect_applications.columns import PrivateSelectKBest

PUBLIC = {
    "domains": {"a": [0, 1], "b": [0, 1], "c": ["p", "q", "r"]},
    "classes": [0, 1],
    "max_records": 1000,
}


def rows(number=400):
    """Return a table whose column ``a`` is the label, and ``b`` most of it."""
    rng = np.random.default_rng(18)
    label = rng.integers(0, 2, number)
    noisy = np.where(rng.random(number) < 0.8, label, 1 - label)
    frame = pl.DataFrame({"a": label, "c": rng.choice(list("pqr"), number), "b": noisy})
    return frame.with_columns(other=pl.lit(7)), label


def test_a_tree_grows_on_the_columns_that_were_kept():
    x, y = rows()
    steps = make_pipeline(
        PrivateSelectKBest(epsilon=500.0, k=2, **PUBLIC).set_output(transform="polars"),
        ID3Classifier(epsilon=500.0, max_depth=2, **PUBLIC),
    )

    assert steps.fit(x, y).score(x, y) == 1.0
    assert steps[-1].tree_.schema.names == ("a", "b")


def test_columns_state_no_error():
    query = dp.BestColumns(
        domains={"a": [0, 1], "b": [0, 1, 2]}, classes=[0, 1], max_records=100, k=1,
        epsilon=1.0, neighbours="add-remove",
    )  # fmt: skip

    assert query.plan.error is None
