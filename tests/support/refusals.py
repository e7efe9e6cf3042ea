"""Calls that are refused: one row for each, made from a call that is not."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product

import pytest

import dpselect as dp
from dpselect.errors import ParameterError


@dataclass(frozen=True)
class Row:
    """One refusal.

    Attributes:
        name: Whose call it is, and which arguments are changed.
        make: The call.
        said: The argument that the error names, or several words of its message.
        error: The type of the error.
    """

    name: str
    make: Callable[[], object] = field(repr=False)
    said: str
    error: type[Exception]


class Each(tuple):
    """Values of one argument, of which each is refused in the same words."""

    __slots__ = ()


@contextmanager
def refused(*arguments, error=ParameterError):
    """Check that an error is raised, which names these arguments; "" is none."""
    with pytest.raises(error) as caught:
        yield caught
    assert {*arguments} - {""} <= {*caught.value.arguments}


def refusing(call, /, *given, **usual):
    """Return what makes the rows of a call, whose arguments are the usual ones or changed."""
    name = getattr(call, "__name__", "call")

    def rows(said, error=ParameterError, /, **changed):
        every = (one if isinstance(one, Each) else [one] for one in changed.values())
        calls = (dict(zip(changed, some, strict=True)) for some in product(*every))
        name_of = " ".join([name, *changed])
        return [
            Row(name_of, partial(call, *given, **usual | one), said, error) for one in calls
        ]

    return rows


def both(*makers):
    """Return what makes the same rows of several calls."""
    return lambda *said, **changed: [row for rows in makers for row in rows(*said, **changed)]


def unspent(release, neighbours, user):
    """Release within a budget that has enough for it, of which nothing is spent."""
    price = {"neighbours": neighbours, "protects": user, "composition": "sum"}
    budget = dp.Budget(1e9, 0.9, **price)
    try:
        release(budget=budget)
    finally:
        assert budget.entries == ()


def releasing(kind, /, **usual):
    """Return what makes the rows of a query, and of the release of ``data``, if any."""

    def release(data=None, **fields):
        query = kind(**fields)
        unspent(partial(query.release, data), query.plan.neighbours, fields.get("user"))

    release.__name__ = kind.__name__
    return refusing(release, **usual)


def fitting(estimator, /, *data, neighbours="add-remove", **usual):
    """Return what makes the rows of an estimator that is fitted."""

    def fit(data=data, **parameters):
        unspent(
            lambda budget: estimator(**parameters, budget=budget).fit(*data),
            neighbours,
            parameters.get("user"),
        )

    fit.__name__ = getattr(estimator, "__name__", "estimator")
    return refusing(fit, **usual)
