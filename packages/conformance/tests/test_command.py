"""``dpselect audit``: the pages' examples, every kind of check, and what is refused."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "own.md").read_text(encoding="utf-8")
START = 'universe = [(), ("a",), ("b",), ("a", "b")]\nneighbours = "add-remove"\n'
RELEASE = """
import dpselect as dp

def release(people):
    counts = [people.count(name) for name in "ab"]
    objective = dp.Objective(counts, dp.GlobalSensitivity(1, "add-remove"), "ab", monotone=True)
    drawn = dp.PermuteAndFlip(epsilon=EPSILON).release(objective)
    plan = dp.PermuteAndFlip(epsilon=1.0).plan(neighbours="add-remove")
    return dp.Release(drawn.answer, plan, exact=True)
"""


@pytest.fixture
def audit(run, tmp_path):
    def call(code, *options, name="mine.py"):
        path = tmp_path / name
        path.write_text(code, encoding="utf-8")
        return run("audit", path, *options)

    return call


@pytest.mark.parametrize(("name", "code"), [("correct", 0), ("wrong", 1)])
def test_the_page_shows_what_is_printed(audit, name, code):
    found = re.search(
        rf'```python title="{name}\.py"\n(.*?)```.*?audit {name}\.py\n```\n\n```text\n(.*?)```',
        PAGE,
        re.DOTALL,
    )
    ran = audit(found[1])

    assert set(found[2].splitlines()) - {"  ..."} <= set(ran.out.splitlines())
    assert ran.code == code


@pytest.mark.parametrize(("epsilon", "code"), [(1.0, 0), (1.2, 1)])
def test_a_release_is_replayed_on_every_pair(audit, epsilon, code):
    ran = audit(START + RELEASE.replace("EPSILON", str(epsilon)))

    assert ran.code == code
    assert "the worst of 4 pairs is x = " in ran.out
    assert ("NOT private as planned: the draws use epsilon 1.19999" in ran.out) is bool(code)


def test_a_module_beside_the_file_can_be_imported(audit, tmp_path):
    (tmp_path / "beside_mine.py").write_text("epsilon = 1.5\n", encoding="utf-8")
    own = "from beside_mine import epsilon\nprobabilities = lambda people: [0.5, 0.5]\n"

    assert audit(START + own).code == 0
