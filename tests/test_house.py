"""The budget of lines: who adds in a room takes away in it."""

from support.house import budget, code_lines, site_words, sizes

SLACK = 50
"""Lines that a room may have left: what was taken away is given back."""


def test_code_lines_are_neither_blank_nor_comments_nor_strings_that_stand_alone():
    text = '''"""Title.

More.
"""

# why
x = 1  # how


def f():
    """Do."""
    return "a"
'''

    assert code_lines(text) == 3


def test_every_room_keeps_to_its_budget():
    most = budget()
    lines = {room: lines for room, (lines, _) in sizes().items()}

    assert set(most) == {*lines, "words"}
    assert {room: n for room, n in lines.items() if n > most[room]} == {}
    assert {room: most[room] for room, n in lines.items() if most[room] > n + SLACK} == {}


def test_the_site_keeps_to_its_words():
    assert site_words() <= budget()["words"]
