"""What ``help`` shows of docstrings: words and letters, no roles and no TeX."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RAW = re.compile(r":\w+:`|\.\. math::|\\(?:varepsilon|frac|sum|le|ge|max|min|ln)\b")


@pytest.mark.parametrize("folder", ["src", "packages", "studies/src", "benchmarks", "examples"])
def test_no_source_has_a_role_or_tex(folder):
    sources = list((ROOT / folder).rglob("*.py"))

    assert sources
    assert [path for path in sources if RAW.search(path.read_text("utf-8"))] == []
