"""Each sentence of what ``docs/privacy.md`` promises, and the test that holds it.

A sentence, but for what is out of scope, is known by its first words. It fails here
if it is new, if its first words change, or if its test is gone. Whether a test holds all that a
sentence says is for the reader to judge.
"""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "privacy.md"

HELD, _, ARGUED = (TESTS / "privacy_page.txt").read_text(encoding="utf-8").partition("\n\n")
"""The tests with the sentences that they hold, by first words; and what is argued."""

TEST = re.compile(r"(\S+\.py)::(\w+)")


def sentences():
    """Return the sentences of the prose but for what is out of scope."""
    whole = PAGE.read_text(encoding="utf-8")
    limits = re.compile(r"^## What is out of scope.*?(?=^## )", re.MULTILINE | re.DOTALL)
    page = limits.sub("", whole)
    page = re.sub(r"<figure.*?</figure>", "", page, flags=re.DOTALL)
    blocks = re.split(r"\n\s*\n|\n(?=- )", page)
    prose = [" ".join(one.split()) for one in blocks if one and not one.startswith(("#", "|"))]
    ends = r"(?<=[.:])\s+(?=[A-Z`])"
    return [one for block in prose for one in re.split(ends, block)]


def test_each_sentence_is_held_by_a_test_or_said_to_be_argued():
    argued = [line for line in ARGUED.splitlines() if line.startswith("    ")]
    words = re.split(r"\n|\|", TEST.sub("", HELD)) + " | ".join(argued).split(" | ")
    known = [one.strip() for one in words if one.strip()]
    found = [[one for one in known if sentence.startswith(one)] for sentence in sentences()]

    assert [said for said, ones in zip(sentences(), found, strict=True) if len(ones) != 1] == []
    assert sorted(one for ones in found for one in ones) == sorted(known)


def test_every_test_that_is_named_exists():
    for path, name in TEST.findall(HELD):
        nodes = ast.walk(ast.parse((TESTS / path).read_text(encoding="utf-8")))

        assert name in {one.name for one in nodes if isinstance(one, ast.FunctionDef)}, path
