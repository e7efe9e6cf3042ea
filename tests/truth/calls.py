"""Calls that are made from their text: what a question writes is what it asks.

The slack of an answer is what theory allows: a draw by the global sensitivity is further below
the best than that with a probability of at most ``BETA``.
"""

from dataclasses import dataclass
from math import log
from operator import attrgetter
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl

import dpselect as dp
from truth.question import Question

KNOWN = SimpleNamespace(dp=dp, nx=nx, np=np, pd=pd, pl=pl)
BETA = 1e-9


class Call:
    """A call of something by its name, whose arguments may be calls; or by a function's own."""

    def __init__(self, of, /, *args, **fields):
        self.of, self.args, self.fields = of, args, fields

    def __repr__(self):
        name = self.of if isinstance(self.of, str) else self.of.__name__
        parts = [repr(one) for one in self.args]
        return f"{name}({', '.join([*parts, *(f'{k}={v!r}' for k, v in self.fields.items())])})"

    def made(self):
        """Return what the call returns."""
        of = attrgetter(self.of)(KNOWN) if isinstance(self.of, str) else self.of
        return of(
            *map(made, self.args), **{name: made(one) for name, one in self.fields.items()}
        )


def made(one):
    """Return a value, with all calls inside of it made."""
    if isinstance(one, Call):
        return one.made()
    if isinstance(one, list | tuple):
        return type(one)(map(made, one))
    return {name: made(each) for name, each in one.items()} if isinstance(one, dict) else one


def released(query, data, right, **more):
    """Return the question what a query releases of data, both as calls."""
    given = ", ".join([repr(data), *(f"{name}={one!r}" for name, one in more.items())])
    text = f"{query!r}.release({given})"
    return Question(text, lambda: made(query).release(made(data), **more), right)


@dataclass(frozen=True)
class Slack:
    """How far below the best an answer can be, in score units.

    Attributes:
        bound: The global sensitivity.
        epsilon: Of the release.
        n: How many candidates.
        k: How many are drawn, each at ``epsilon / k``.
        l1: The change of all scores together, if noise on all of them is an option.
    """

    bound: float
    epsilon: float
    n: int
    k: int = 1
    l1: float = 0.0

    @property
    def value(self):
        """Two scores and a factor of 2 for objectives that are not monotone."""
        move = max(self.bound * self.k, self.l1)
        return 4 * move / self.epsilon * log(2 * self.n * self.k / BETA) + 1e-5 * move


def best_first(answer, scores, k, slack):
    """Return whether an answer has the ``k`` candidates of the largest scores, in their order.

    Args:
        answer: Candidates.
        scores: By candidate.
        k: How many there must be.
        slack: How much less a score may be.
    """
    if len(set(answer)) != k or len(answer) != k or not set(answer) <= set(scores):
        return f"{answer} are not {k} candidates"
    left = dict(scores)
    for one in answer:
        best = max(left.values())
        del left[one]
        if scores[one] < best - slack:
            return f"{answer}: {one!r} has {scores[one]}, of {best}"
    return True
