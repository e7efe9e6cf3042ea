"""``dpselect audit``: the page's examples; all else is in ``tests/screens``."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[3] / "docs" / "own.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "code"), [("correct", 0), ("wrong", 1)])
def test_the_page_shows_what_is_printed(run, tmp_path, name, code):
    found = re.search(
        rf'```python title="{name}\.py"\n(.*?)```.*?audit {name}\.py\n```\n\n```text\n(.*?)```',
        PAGE,
        re.DOTALL,
    )
    path = tmp_path / f"{name}.py"
    path.write_text(found[1], encoding="utf-8")
    ran = run("audit", path)

    assert set(found[2].splitlines()) - {"  ..."} <= set(ran.out.splitlines())
    assert ran.code == code
