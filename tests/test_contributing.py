"""The example of CONTRIBUTING.md is what it says: a query, a command, and its case."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from dpselect.budget import Budget
from dpselect.query import Query
from dpselect_conformance import check_spends_first

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)

IMPORTS = """
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpselect import tables, validation
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.maps.counting import Counts
from dpselect.maps.points import PointRows
from dpselect.maps.box import lattice_rectangles
from dpselect.mechanisms import PermuteAndFlip, TopK
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Facts, Objective
from dpselect.plan import Plan
from dpselect.query import Design, Query, query
from dpselect.release import Release
from dpselect.sensitivity import GlobalSensitivity
from support.releases.maps import case, points
"""


@pytest.fixture(scope="module")
def example():
    module = ModuleType("contributed")
    sys.modules[module.__name__] = module
    exec(IMPORTS + "\n".join(BLOCKS), module.__dict__)  # noqa: S102 -- our own page
    yield module
    Query.kinds.pop("BusyAreas")
    del sys.modules[module.__name__]


@pytest.fixture
def program(example):
    app = typer.Typer(rich_markup_mode="rich")
    app.command("-", hidden=True)(lambda: None)
    example.Areas().register(app)
    return app


def test_it_takes_at_most_120_lines():
    assert len("".join(BLOCKS).splitlines()) + len(IMPORTS.splitlines()) <= 120


@pytest.mark.parametrize("relation", ["add-remove", "substitute"])
def test_the_query_spends_first(example, relation):
    case = example.busy(example.Neighbours(relation))
    here, _ = case.pair(np.random.default_rng(0))

    report = check_spends_first(
        lambda budget: case.release(here, budget), total=1.0, neighbours=relation
    )

    assert report.ok, report


def test_the_answer_is_right_without_noise(example):
    here = [[0.1, 0.5]] * 9 + [[0.5, 0.5]] * 5 + [[0.35, 0.5]] * 2 + [[0.9, 0.5]] * 3
    areas = {"west": [0, 0, 0.4, 1], "middle": [0.3, 0.2, 0.7, 0.8], "east": [0.6, 0, 1, 1]}
    busy = example.BusyAreas(
        areas=areas, bounds=(0, 0, 1, 1), k=2, epsilon=80, neighbours="add-remove"
    )

    assert busy.release(here).answer == ("west", "middle")  # 11, 7 and 3 points


def test_the_command_plans_and_releases(program, tmp_path):
    table, areas, ledger = (tmp_path / name for name in ("p.csv", "a.csv", "l.budget"))
    pl.DataFrame({"lon": [0.1] * 9 + [0.9] * 2, "lat": [0.5] * 11}).write_csv(table)
    areas.write_text("name,west,south,east,north\nwest,0,0,.4,1\neast,.6,0,1,1\n")
    Budget(100.0, neighbours="add-remove", path=ledger)
    asked = ["areas", table, "--x", "lon", "--y", "lat", "--areas", areas, "--k", 1]
    asked += ["--bounds", "0,0,1,1", "--epsilon", 60, "--neighbours", "add-remove"]
    asked = [*map(str, asked), "--ledger", str(ledger), "--json"]

    plan = CliRunner().invoke(program, [*asked, "--dry-run"], catch_exceptions=False)
    done = CliRunner().invoke(program, asked, catch_exceptions=False)

    assert json.loads(plan.stdout)["epsilon"] == 60
    assert json.loads(done.stdout)["answer"] == ["west"]
    assert Budget.open(ledger).remaining == 40
