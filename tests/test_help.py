"""What ``help`` shows: words and letters, no roles and no TeX."""

import inspect
import pydoc
import re
from pathlib import Path

import pytest

from support.public import every_name

ROOT = Path(__file__).parents[1]
RAW = re.compile(r":\w+:`|\.\. math::|\\(?:varepsilon|frac|sum|le|ge|max|min|ln)\b")
SHOWN = {
    name: found
    for name, found in every_name().items()
    if inspect.isclass(found) or inspect.isfunction(found)
}


@pytest.mark.parametrize("folder", ["src", "packages", "studies/src", "benchmarks", "examples"])
def test_no_source_has_a_role_or_tex(folder):
    sources = list((ROOT / folder).rglob("*.py"))

    assert sources
    assert [path for path in sources if RAW.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("name", SHOWN)
def test_help_of_x(name):
    """Of what scikit-learn's bases say it is scikit-learn's."""
    found = SHOWN[name]
    texts = [found.__doc__ or ""]
    if inspect.isclass(found):
        ours = [kind for kind in found.__mro__ if kind.__module__.startswith("dpselect")]
        texts += [
            inspect.getdoc(getattr(kind, name)) or ""
            for kind in ours
            for name, one in vars(kind).items()
            if inspect.isroutine(one) or isinstance(one, property)
        ]
        texts = [text for text in texts if "sklearn" not in text and "user guide" not in text]
    else:
        texts.append(pydoc.render_doc(found, renderer=pydoc.plaintext))

    assert [text for text in texts if RAW.search(text)] == []
