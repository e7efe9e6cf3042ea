"""The studies by name: ``<first author>-<year>/<the paper's number>``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpselect.errors import ParameterError
from dpselect_studies.study import Study

STUDIES = (
    "farias-2023/examples",
    "farias-2023/figure-7",
    "farias-2023/figure-8",
    "farias-2023/figure-9",
    "farias-2023/figure-10",
    "farias-2023/table-1",
    "farias-2023/figure-11",
    "farias-2024/examples",
    "farias-2024/table-1",
    "farias-2024/figure-2",
    "farias-2024/table-2",
    "farias-2024/figure-3",
    "fanaeepour-2017/figure-4",
    "fanaeepour-2017/figure-5",
    "fanaeepour-2017/figure-10",
    "fanaeepour-2017/figure-11a",
    "fanaeepour-2017/figure-11b",
    "fanaeepour-2017/figure-11c",
    "gonen-2025/theorem-1",
    "gonen-2025/theorem-2",
    "gonen-2025/theorem-3",
)
"""All names, in the order in which they are listed."""


def load(name: str) -> Study[Any, Any]:
    """Return a study.

    Raises:
        ParameterError: There is none of that name.
    """
    if name not in STUDIES:
        raise ParameterError(f"there is no study {name!r}; the names are {', '.join(STUDIES)}")
    study: Study[Any, Any] = import_module(module_of(name)).STUDY
    return study


def module_of(name: str) -> str:
    """Return the name of a study's module."""
    return "dpselect_studies." + name.replace("-", "_").replace("/", ".")
