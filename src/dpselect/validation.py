"""Checks of arguments, for packages that build on dpselect.

Each returns the value in the one form that the library works with, or raises a
:class:`~dpselect.errors.ParameterError` that names the argument in backquotes.
"""

from dpselect._validate import (
    at_least,
    finite,
    instance,
    listed,
    neighbours,
    one_of,
    positive,
    table_neighbours,
    truth,
    within,
)

__all__ = [
    "at_least",
    "finite",
    "instance",
    "listed",
    "neighbours",
    "one_of",
    "positive",
    "table_neighbours",
    "truth",
    "within",
]
