"""At a large epsilon every default and named method gives a right answer to plain questions.

``python tests/truth/counted.py 200`` counts what is wrong, by query.
"""

import re
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from dpselect.draws.exact import samplers
from support.engines import SPARK
from support.packages import brought

FAST, SLOW, PART = 300, 10_000, 500
"""Cases of all questions together, in the plain tests and in the slow ones; and of one test."""

ROOMS = sorted(one.stem for one in Path(__file__).with_name("questions").glob("[a-z]*.py"))
EVERY = {room: import_module(f"truth.questions.{room}") for room in ROOMS}
APPLICATIONS = ("cells", "columns", "hubs", "tables", "tuning")
EVERY |= brought(*(f"questions.{room}" for room in APPLICATIONS))
QUESTIONS = {
    f"{room.rpartition('.')[2]} {name}": strategy
    for room, module in EVERY.items()
    for name, strategy in module.QUESTIONS.items()
}
"""Strategies of questions by room, query and method."""


def share(cases):
    """Return how many of all cases ask one of the questions."""
    return -(-cases // len(QUESTIONS))


PARTS = [(name, part) for name in QUESTIONS for part in range(-(-share(SLOW) // PART))]

each = settings(
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def wrong(question):
    """Return in words what is wrong with the answer, with the bits that the text decides."""
    samplers.system.seed(question.text)
    found = question.right(question.ask())
    return "" if found is True else f"{question}\n{found or 'is wrong'}"


def check(name, cases, part=0, engine=None):
    @settings(each, max_examples=cases)
    @seed(f"{name} {part}")
    @given(QUESTIONS[name])
    def is_right(question):
        if engine is not None:
            question = question.held and question.held(engine)
            if engine == "spark" and question and OF_NO_SPARK.search(question.text):
                question = None
        assert question is None or not wrong(question)

    is_right()


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_right(name):
    check(name, share(FAST))


OF_NO_SPARK = re.compile(r"Duration\(|dp\.Subset\((?!.*label=)")
"""Questions that Spark refuses in words: durations, and row numbers where no row has one."""

READERS = {"keys", "percentiles", "subsets", "tables"}
OF_ROWS = [name for name in QUESTIONS if name.split()[0] in READERS]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["polars lazy", "duckdb", SPARK])
@pytest.mark.parametrize("name", OF_ROWS)
def test_engines_answer_alike(name, engine):
    check(name, 6 if engine == "spark" else 20, engine=engine)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "part"), PARTS)
def test_all_answers_are_right(name, part):
    check(name, min(PART, share(SLOW) - part * PART), part + 1)
