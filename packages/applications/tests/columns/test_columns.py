"""Private selection of columns, before a tree in a pipeline."""

import numpy as np
import polars as pl
from sklearn.pipeline import make_pipeline

from dpselect.trees import ID3Classifier
from dpselect_applications.columns import PrivateSelectKBest


def test_a_tree_grows_on_the_columns_that_were_kept():
    label = np.arange(400) % 2
    rows = pl.DataFrame({"c": label // 2, "other": label + 7, "a": label})
    public = {"domains": {"c": [0, 1], "a": [0, 1]}, "classes": [0, 1], "max_records": 1000}
    best = PrivateSelectKBest(epsilon=500.0, k=1, **public).set_output(transform="polars")
    steps = make_pipeline(best, ID3Classifier(epsilon=500.0, max_depth=1, **public))

    assert steps.fit(rows, label).score(rows, label) == 1.0
    assert steps[-1].tree_.schema.names == ("a",)
    for given in (rows, rows.to_pandas()):
        assert best.fit_transform(given, label).schema == {"a": pl.Int64}
