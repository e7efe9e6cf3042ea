"""What ``help`` shows: words, not the source's roles and TeX."""

import inspect
import pydoc
import re

import pytest

from dpselect._help import in_letters, plain
from support.public import every_name

RAW = re.compile(r":\w+:`|\.\. math::")
SHOWN = {
    name: found
    for name, found in every_name().items()
    if inspect.isclass(found) or inspect.isfunction(found)
}


@pytest.mark.parametrize(
    ("tex", "letters"),
    [
        (r"\varepsilon", "ε"),
        (r"\tfrac{1}{2\lambda}", "(1)/(2λ)"),
        (r"2^{-40}", "2^(-40)"),
        (r"\sum_{t<T^*} (\Delta - \delta(x, t))", "∑_(t<T^*) (Δ - δ(x, t))"),
        (r"\ln n \le \text{bits}", "ln n ≤ bits"),
    ],
)
def test_formulas_are_letters(tex, letters):
    assert in_letters(tex) == letters


def test_roles_are_names():
    text = (
        "At :math:`\\varepsilon`, as in :func:`~a.b.c` and :class:`d.E`.\n\n    .. math:: x\n"
    )

    assert plain(text) == "At ε, as in ``c`` and ``d.E``.\n\n     x\n"


@pytest.mark.parametrize("name", SHOWN)
def test_help_of_public_names_has_no_raw_role(name):
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
