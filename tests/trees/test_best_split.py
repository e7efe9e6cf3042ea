"""The truth at a large epsilon: the default draws the column that plain NumPy finds best."""

import numpy as np
import polars as pl
import pytest

from dpselect.neighbours import Neighbours
from dpselect.scaling import by_global, pairwise
from dpselect.trees.criteria import InformationGainSensitivity, objective_of


def random_table(seed):
    """Return 40 to 1,000 records of a label and four columns with 2 to 12 values."""
    rng = np.random.default_rng(seed)
    number, classes = int(rng.integers(40, 1000)), int(rng.integers(2, 4))
    sizes, label = rng.integers(2, 13, 4), rng.integers(0, classes, number)
    columns = {
        f"c{j}": np.where(
            rng.random(number) < rng.random() * 0.7,
            label * (size - 1) // (classes - 1),
            (rng.random(number) ** rng.integers(1, 4) * size).astype(int),
        )
        for j, size in enumerate(sizes.tolist())
    }
    domains = {
        name: list(range(size)) for name, size in zip(columns, sizes.tolist(), strict=True)
    }
    return pl.DataFrame(columns).with_columns(label=label), domains, classes


def contingency(frame, name, size, classes):
    table = np.zeros((size, classes), dtype=np.int64)
    np.add.at(table, (frame[name].to_numpy(), frame["label"].to_numpy()), 1)
    return table


def by_definition(criterion, table):
    """Return the score of a column: scikit-learn's impurities, weighted by counts."""
    rows = table[table.sum(axis=1) > 0].astype(float)
    totals = rows.sum(axis=1)
    shares = rows / totals[:, None]
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return {
        "information-gain": totals @ (shares * logs).sum(axis=1),
        "gini": totals @ ((shares**2).sum(axis=1) - 1),
        "majority": rows.max(axis=1).sum(),
    }[criterion]


def best(criterion, tables):
    """Return the positions of the best columns."""
    scores = np.array([by_definition(criterion, table) for table in tables])
    return np.flatnonzero(scores >= scores.max() - 1e-9)


@pytest.mark.parametrize(
    ("criterion", "scaling", "off"),
    [("gini", by_global, 0.03), ("majority", by_global, 0), ("information-gain", pairwise, 0)],
)
def test_precision_does_not_depend_on_a_generous_bound(criterion, scaling, off):
    """The unit scores of a tight bound and of one 100 times as large."""
    for seed in range(10):
        frame, domains, classes = random_table(seed)
        tables = [contingency(frame, name, len(one), classes) for name, one in domains.items()]
        scores = [
            scaling(objective_of(criterion, tables, list(domains), max_records=most))
            for most in (2 * len(frame), 200 * len(frame))
        ]
        assert scores[0] == pytest.approx(scores[1], rel=max(off, 1e-9))


@pytest.mark.parametrize("horizon", [0, 3, 60, 400])
def test_some_columns_have_the_sensitivities_that_they_have_among_all(horizon):
    rng = np.random.default_rng(3)
    tables = [rng.integers(0, top, (int(rng.integers(1, 5)), 3)) for top in (2, 9, 60, 30)]
    of_columns = InformationGainSensitivity(tables, 300, Neighbours.ADD_REMOVE, horizon)
    rows, places = np.array([3, 0]), (0, 1, 50, 399)

    taken = of_columns.take(rows)
    for t in places:
        wanted = np.broadcast_to(of_columns.at(t), 4)[rows]
        assert np.broadcast_to(taken.at(t), 2) == pytest.approx(wanted)
