"""Queries: fields, equality and texts."""

import copy
import json
import pickle
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpselect as dp
from dpselect.errors import NeighboursError, ParameterError
from dpselect.mechanisms import MechanismLike, by_name
from dpselect.neighbours import NeighboursLike
from dpselect.plan import Plan, Spend
from dpselect.query import Design, Query, query
from support.packages import brought
from support.refusals import refused
from support.releases import all_cases, can_be_written

AR = dp.Neighbours.ADD_REMOVE


@query
class FirstOf(Query[dp.Release[Any]]):
    """The first of some candidates, whatever the data are.

    Attributes:
        candidates: What may be released.
        options: By name.
        epsilon: What the release costs.
        delta: What it costs besides.
        neighbours: The relation.
        mechanism: How it is drawn.
    """

    candidates: Sequence[Hashable] = ("a", "b")
    options: Mapping[str, Any] | None = None
    epsilon: float
    delta: float = 0.0
    neighbours: NeighboursLike
    mechanism: MechanismLike | None = None

    def design(self):
        if not self.candidates:
            raise ParameterError("`candidates` must be at least one")
        if self.mechanism is not None:
            by_name(self.mechanism, self.epsilon)
        return FirstDesign(
            plan=Plan(
                mechanism="first",
                spends=(Spend("one draw", self.epsilon, delta=self.delta),),
                epsilon=self.epsilon,
                delta=self.delta,
                neighbours=self.neighbours,
            ),
            candidates=self.candidates,
        )


@dataclass(frozen=True, kw_only=True)
class FirstDesign(Design[dp.Release[Any]]):
    candidates: tuple

    def check(self, data):
        data.append("check")

    def prepare(self, data) -> Callable[[dp.Plan], dp.Release[Any]]:
        data.append("prepare")
        return partial(dp.Release, self.candidates[:1])


def by_name_lambda(*, epsilon, size=1):
    return dp.PermuteAndFlip(epsilon=epsilon / size)


class Maker:
    """A function that is an object."""

    def __call__(self, *, epsilon):
        return dp.PermuteAndFlip(epsilon=epsilon)


def first(**fields):
    return FirstOf(**{"epsilon": 0.5, "neighbours": AR, **fields})


def test_a_check_reads_nothing_and_a_plan_needs_no_data():
    steps = []
    first().check(steps)

    assert steps == ["check"]
    assert first().plan.query == first()


class TestFields:
    @pytest.mark.parametrize(
        "given",
        [
            ["a", 1, 2.5, None],
            ("a", np.int64(1), np.float64(2.5), None),
            np.array(["a", 1, 2.5, None], dtype=object),
            iter(["a", 1, 2.5, None]),
            {"a": 1, 1: 2, 2.5: 3, None: 4}.keys(),
            pl.Series(["a", 1, 2.5, None], dtype=pl.Object),
        ],
        ids=lambda given: type(given).__name__,
    )
    def test_lists_of_any_kind_become_tuples_of_pythons_numbers(self, given):
        kept = first(candidates=given).candidates

        assert kept == ("a", 1, 2.5, None)
        assert [type(one) for one in kept[1:3]] == [int, float]

    @pytest.mark.parametrize("other", [2**53 + 1, 0.5, True, 2**64, -0.0])
    def test_long_lists_are_as_they_are_and_vectors_only_if_of_one_type(self, other):
        given = [*range(1, 10), other]
        kept = first(candidates=given).candidates
        array = getattr(kept, "array", None)

        assert [*map(repr, kept)] == [*map(repr, given)]
        assert (None if array is None else array.tolist()) == (
            given if other == 2**53 + 1 else None
        )

    @pytest.mark.parametrize("given", [1, np.float32(1), np.int8(1), np.array(1.0)])
    def test_prices_become_floats(self, given):
        made = first(epsilon=given, delta=np.float64(0))

        assert (type(made.epsilon), type(made.delta)) == (float, float)
        assert made == first(epsilon=1.0)

    def test_relations_and_mechanisms_have_one_form(self):
        made = [
            first(neighbours=relation, mechanism=mechanism)
            for relation in (AR, "add-remove")
            for mechanism in ("permute-and-flip", dp.PermuteAndFlip)
        ]
        flipped = first(mechanism=partial(dp.LocalDampening, draw="permute-and-flip"))

        assert {(one.neighbours, one.mechanism) for one in made} == {(AR, "permute-and-flip")}
        assert flipped.mechanism == {"name": "local-dampening", "draw": "permute-and-flip"}

    def test_dates_of_nanoseconds_are_dates_or_refused(self):
        days = np.array(["2024-02-29", "NaT"], dtype="datetime64[ns]")

        assert first(candidates=days).candidates == (datetime(2024, 2, 29), None)  # noqa: DTZ001
        with pytest.raises(ParameterError):
            first(candidates=days + np.timedelta64(1, "ns"))

    def test_what_is_out_of_range_is_refused_when_it_is_made(self):
        with refused("candidates"):
            first(candidates=[])
        with refused("neighbours", error=NeighboursError):
            first(neighbours="persons")

    def test_a_plan_shows_values_as_people_write_them(self):
        options = {"lower": -inf, "day": date(2024, 2, 29), "width": timedelta(days=1)}
        options |= {"many": np.linspace(0, 60, 61), "rows": np.zeros((99, 4)), "on": AR}
        made = first(options={**options, "share": Decimal("0.1"), "few": range(3)})

        assert made.plan.to_dict()["arguments"]["options"] == {
            "lower": "-inf",
            "day": "2024-02-29",
            "width": "1 day",
            "many": "61 values from 0 to 60",
            "rows": "99 rows of 4 values",
            "on": "add-remove",
            "share": "0.1",
            "few": [0, 1, 2],
        }
        assert Query.from_json(made.to_json()) == made
        json.dumps(made.plan.to_dict(), allow_nan=False)

    @pytest.mark.parametrize(
        ("mechanism", "name"),
        [
            (partial(by_name_lambda), "by_name_lambda()"),
            (partial(partial(by_name_lambda), size=3), "by_name_lambda(size=3)"),
            (Maker(), "Maker"),
        ],
    )
    def test_a_function_is_shown_by_its_name_and_never_by_its_address(self, mechanism, name):
        made = first(mechanism=mechanism)

        assert made.plan.arguments["mechanism"] == name
        assert made.written_form["mechanism"] == name
        assert f"mechanism={name!r}" in repr(made)
        assert " at 0x" not in f"{made!r}{made.plan}{made.plan.to_dict()}"


class TestEquality:
    def test_equal_fields_make_equal_queries(self):
        one = first(candidates=["a", 2], epsilon=1)
        other = first(candidates=("a", 2), epsilon=1.0)

        assert one == other
        assert hash(one) == hash(other)
        assert one.to_json() == other.to_json()
        assert len({one, other, copy.copy(one), copy.deepcopy(one)}) == 1

    @pytest.mark.parametrize(
        "changed",
        [
            *({"epsilon": 0.75}, {"candidates": ["a"]}, {"candidates": ["b", "a"]}),
            *({"options": {}}, {"candidates": [1]}, {"mechanism": by_name_lambda}),
        ],
    )
    def test_another_field_class_or_type_makes_another_query(self, changed):
        """Also numbers that answers tell apart, and a function that does the same."""
        others = [{}, {"candidates": [1.0]}, {"candidates": [True]}]
        others.append({"mechanism": partial(by_name_lambda)})

        assert first(**changed) == first(**changed)
        assert all(first(**changed) != first(**other) for other in others)
        assert first(**changed) != 1
        assert first(**changed) != dp.Selection(
            mechanism=dp.PermuteAndFlip(epsilon=1), k=1, neighbours=AR
        )


def test_it_is_shown_as_one_line_of_what_was_given():
    assert repr(first()) == "FirstOf(epsilon=0.5, neighbours='add-remove')"
    assert repr(first(candidates=("a\nb",), options={"k": [1, 2]})) == (
        "FirstOf(candidates=['a\\nb'], options={'k': [1, 2]}, epsilon=0.5, "
        "neighbours='add-remove')"
    )


CASES = {one.name: one.query for one in all_cases() if can_be_written(one.query)}


class TestText:
    @pytest.mark.parametrize(
        "made", [pytest.param(one, id=name) for name, one in CASES.items()]
    )
    def test_every_query_is_read_as_it_was_written(self, made):
        written = made.to_json()
        found = Query.from_json(written)

        assert found == made
        assert found.to_json() == written
        assert found.plan == made.plan
        assert type(found).from_dict(json.loads(written)) == found
        again = pickle.loads(pickle.dumps(made))  # noqa: S301 -- our own bytes
        assert (again, again.plan) == (made, made.plan)

    @pytest.mark.parametrize(
        "value",
        [
            datetime(2024, 2, 29, 12, 30, 1, 5),  # noqa: DTZ001 -- columns have no zone
            *(date(2024, 2, 29), timedelta(days=-1, microseconds=7), Decimal("0.10")),
            *(range(0, 20, 5), inf, -inf, nan, None, True, 2**70, "\N{SNOWMAN}"),
            *(("a", (1, (2.5,))), {"name": "noisy-max", "range": 3}, {"date": "2024-02-29"}),
            *({"mapping": {"range": (1,)}}, {}),
        ],
        ids=repr,
    )
    def test_values_keep_their_types(self, value):
        made = first(candidates=[value], options={"a": value})
        text = made.to_json()
        [found] = Query.from_json(text).candidates

        assert type(found) is type(value)
        assert Query.from_json(text) == made
        assert repr(found) == repr(value)

    def test_it_is_versioned_and_leaves_out_what_is_none(self):
        assert first().to_dict() == {
            "dpselect": 1,
            "query": f"{__name__.partition('.')[0]}.FirstOf",
            "candidates": ["a", "b"],
            "epsilon": 0.5,
            "delta": 0.0,
            "neighbours": "add-remove",
        }

    def test_another_class_is_not_read_and_a_function_not_written(self):
        with pytest.raises(ParameterError):
            dp.TopKeys.from_dict(first().to_dict())
        with refused("mechanism"):
            first(mechanism=by_name_lambda).to_json()


TINY, NEAR_ONE = 5e-324, 1 - 2**-53
VOTES = {"k": 1, "candidates": ["a", "b"], "neighbours": "add-remove"}
FOUND = {"neighbours": "add-remove", "epsilon": 1.0}
ABSURD = [
    *(
        partial(dp.TopKeys, epsilon=epsilon, delta=delta, **VOTES)
        for epsilon, delta in ((1.0, TINY), (1.0, NEAR_ONE), (1e-300, 0.0))
    ),
    *(
        partial(dp.Keys, epsilon=epsilon, delta=delta, method=method, neighbours="add-remove")
        for epsilon in (TINY, 1e-300, 1e-200, 1e-20, 1e300)
        for delta in (TINY, 1e-290, 1e-9, NEAR_ONE)
        for method in (None, "rounds", "optimal", "laplace", "gaussian")
    ),
    *(
        partial(dp.Keys, epsilon=1e-300, delta=1e-6, column="a", user="b", max_per_user=many,
                neighbours="substitute")
        for many in (1, 20)
    ),
    *(
        partial(dp.Keys, delta=1e-9, other=True, other_share=share, **FOUND)
        for share in (TINY, 1e-300, NEAR_ONE)
    ),
    *(
        partial(dp.AboveThreshold, threshold=1, epsilon=epsilon, sensitivity=most, stops=stops,
                neighbours="add-remove")
        for most, stops in ((2**60, 1), (10**400, 1), (1, 10**400))
        for epsilon in (1e-300, 1.0)
    ),
    partial(dp.Selection, mechanism=dp.PermuteAndFlip(epsilon=1.0), k=10**400,
            neighbours="add-remove"),
    *(one for module in brought("queries").values() for one in module.ABSURD),
]  # fmt: skip


@pytest.mark.parametrize("made", ABSURD, ids=lambda made: made.func.__name__)
def test_numbers_that_cannot_be_computed_with_are_refused_before_the_data(made):
    """Or they have an answer: no other error."""
    try:
        asked = made()
    except ParameterError as refused:
        assert len(str(refused)) < 400  # noqa: PT017 -- both outcomes are right
        return
    data = [1, 2] if isinstance(asked, dp.AboveThreshold) else ["a"] * 3
    if asked.plan.arguments.get("user") is None:
        assert asked.release(data).epsilon > 0


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


TOP = {"query": "TopKeys", "k": 1, "epsilon": 1.0, "neighbours": "add-remove"}


def test_a_value_within_too_many_others_is_refused():
    with pytest.raises(ParameterError):
        dp.Query.from_dict({**TOP, "candidates": nested(10**5)})
    with refused("candidates"):
        dp.TopKeys(k=1, candidates=nested(10**5), epsilon=1.0, neighbours="add-remove")
    with pytest.raises(ParameterError):
        dp.Query.from_json("[" * 10**5)
    with pytest.raises(ParameterError, match="JSON object"):
        dp.Query.from_json('{"dpselect": 1, "dpselect": 1}')


@pytest.mark.parametrize("where", ["k", "candidates", "epsilon", "column"])
def test_a_signaling_nan_is_refused_wherever_it_stands(where):
    odd = {"decimal": "sNaN"}
    with pytest.raises(ParameterError):
        dp.Query.from_dict({**TOP, where: [odd] if where == "candidates" else odd})


@pytest.mark.parametrize(
    ("positional", "given", "named"),
    [
        ((), {"column": "days"}, ["p", "epsilon", "neighbours"]),
        ((), {"columns": "days"}, ["columns", "column"]),
        ((90,), {}, []),
    ],
)
def test_fields_that_are_missing_or_unknown_are_named(positional, given, named):
    with pytest.raises(ParameterError) as caught:
        dp.Percentiles(*positional, **given)

    assert list(caught.value.arguments) == named


def test_a_notebook_shows_the_line_that_asked_and_the_message():
    with pytest.raises(ParameterError) as caught:
        dp.Percentiles(column="days")

    line, said = caught.value._render_traceback_()
    assert "Percentiles(column=" in line
    assert said == f"ParameterError: {caught.value}"
