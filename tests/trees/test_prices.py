"""Every draw of a tree is at its price, divided by the records of one neighbour step."""

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from support.trees_definitions import Certain, drawn

FRONT = {"population": 20, "survivors": 4, "generations": 3, "random_state": 0}
PUBLIC = {"domains": dict.fromkeys("abc", (0, 1)), "classes": ["no", "yes"], "max_records": 999}


@pytest.mark.parametrize(
    ("kind", "asked", "draws"),
    [
        (dp.BestColumns, {"k": 2, "mechanism": "exponential"}, 1),
        (dp.ID3Tree, {"max_depth": 1}, 3),
        (dp.ID3Tree, {"max_depth": 1, "splits": "values"}, 4),
        (dp.TreeFront, {**FRONT, "rate_bound": "global"}, 4),
        (dp.TreeFront, {**FRONT, "rate_bound": "local"}, 4),
        (dp.TreeFront, {**FRONT, "rate_bound": "noisy-denominators"}, 5),
    ],
)
def test_a_draw_is_at_its_price_divided_by_the_records_of_a_step(kind, asked, draws):
    rows = pl.DataFrame(np.random.default_rng(1).integers(0, 2, (200, 3)), schema=list("abc"))
    data = rows.with_columns(who=pl.int_range(200)), np.where(rows["a"] == 1, "yes", "no")
    costs = []
    for relation, persons in (("add-remove", {}), ("substitute", {"max_per_user": 3})):
        users = {**persons, "user": "who"} if persons else {}
        query = kind(**PUBLIC, **asked, **users, epsilon=20.0, neighbours=relation)
        sampler = Certain()
        drawn(query, data, sampler)
        costs.append([epsilon for epsilon, *_ in sampler.asked])
        spends = query.plan.spends
        assert sum(one.epsilon * one.times for one in spends) == pytest.approx(20)

    assert len(costs[0]) == draws
    assert costs[1] == pytest.approx([cost / 6 for cost in costs[0]])
