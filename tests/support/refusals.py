"""Calls that are refused: one row for each, made from a call that is not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

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


def refusing(call, /, *given, **usual):
    """Return what makes the rows of a call, whose arguments are the usual ones or changed."""
    name = getattr(call, "__name__", "call")

    def row(said, error=ParameterError, /, **changed):
        make = partial(call, *given, **{**usual, **changed})
        return Row(" ".join([name, *changed]), make, said, error)

    return row


def releasing(kind, /, **usual):
    """Return what makes the rows of a query, and of the release of ``data`` if there are any.

    Nothing is spent, even where a budget has enough for it.
    """

    def release(data=None, **fields):
        query = kind(**fields)
        price = {"neighbours": query.plan.neighbours, "protects": fields.get("user")}
        budget = dp.Budget(1e9, 0.9, **price, composition="sum")
        try:
            query.release(data, budget=budget)
        finally:
            assert budget.entries == ()

    release.__name__ = kind.__name__
    return refusing(release, **usual)


def fitting(estimator, /, *data, neighbours="add-remove", **usual):
    """Return what makes the rows of an estimator that is fitted, with nothing spent."""

    def fit(data=data, **parameters):
        price = {"neighbours": neighbours, "protects": parameters.get("user")}
        budget = dp.Budget(1e9, 0.9, **price, composition="sum")
        try:
            estimator(**parameters, budget=budget).fit(*data)
        finally:
            assert budget.entries == ()

    fit.__name__ = getattr(estimator, "__name__", "estimator")
    return refusing(fit, **usual)
