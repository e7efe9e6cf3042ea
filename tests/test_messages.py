"""Messages: the text of an error stands in one place."""

import ast
import re
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "dpselect"

NEAR = 0.9
"""Likeness of two texts from which on they are one."""

FEWEST = 3
"""Words of a text that another place cannot have by chance."""


def text_of(node):
    """Return a literal text, with ``{}`` for each value and each name of an argument."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        parts = [node.value]
    elif isinstance(node, ast.JoinedStr):
        parts = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
    else:
        return None
    return re.sub(r"`[^`]*`", "{}", "".join(parts))


def messages(source):
    """Yield the text and the line of each error that is made of a literal text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            text = text_of(node.args[0]) if ast.unparse(node.func).endswith("Error") else None
            if text is not None:
                yield text, node.lineno


@cache
def words_of(text):
    return set(text.split())


def are_one(text, other):
    words, others = words_of(text), words_of(other)
    # The ratio takes long, and texts that are nearly one share their words.
    if len(words - {"{}"}) < FEWEST or len(words & others) < len(words | others) / 2:
        return False
    return SequenceMatcher(None, text, other).ratio() >= NEAR


def test_a_text_with_another_name_is_the_same():
    raised = "ValueError('`k` must be set'), MyError(f'`{name}` must be set'), AnError('none')"
    [(one, _), (other, _), (third, _)] = messages(raised)

    assert are_one(one, other)
    assert not are_one(one, third)


def test_no_text_of_an_error_stands_in_two_places():
    found = [
        (text, f"{path.relative_to(SOURCE)}:{line}")
        for path in sorted(SOURCE.rglob("*.py"))
        for text, line in messages(path.read_text(encoding="utf-8"))
    ]
    twice = [
        (place, other, text)
        for (text, place), (more, other) in combinations(found, 2)
        if are_one(text, more)
    ]

    assert len(found) > 200
    assert not twice
