"""Cards of results in notebooks: what ``print`` shows, and nothing that breaks out of them."""

import re
from datetime import timedelta
from html import unescape

import polars as pl

import dpselect as dp
from dpselect import writing
from dpselect.release import for_csv

VOTES = dp.Objective(
    [31, 12], dp.GlobalSensitivity(1, "add-remove"), ["red", "blue"], monotone=True
)


def words(shown):
    return unescape(re.sub(r"<[^>]*>", "", shown._repr_html_()))


def test_a_card_is_what_is_printed():
    frame = pl.DataFrame({"fruit": ["fig"] * 90 + ["pear"] * 40})
    top = dp.TopKeys(
        column="fruit", k=1, candidates=["fig", "pear"], epsilon=5.0, neighbours="add-remove"
    )
    table = dp.compare(VOTES, [dp.PermuteAndFlip(epsilon=1.0)])

    assert all(words(one) == str(one) for one in (top.plan, top.release(frame), table))
    assert "remaining: 4" in words(dp.Budget(4.0, neighbours="add-remove"))


ORDERS = "\x1b]0;title\x07 \u202eabc\u2066 \x9b2J \ud800"


def test_what_a_terminal_obeys_is_spelled_out():
    said = writing.visible(ORDERS)

    assert said == r"\x1b]0;title\x07 \u202eabc\u2066 \x9b2J \ud800"
    assert writing.visible("a\tb\nö 漢 👩‍👩") == "a\tb\nö 漢 👩‍👩"
    assert writing.as_text("a\tb\nc\r") == r"a\tb\nc\r"


def test_no_text_of_a_file_for_spreadsheets_is_a_formula():
    frame = pl.DataFrame(
        {
            "=head": ["=cmd|' /C calc'!A0", "+1", "-1+2", "@x", "a=b", "", None, "\x1b[2J"],
            "number": [-1.5, *range(7)],
        }
    )

    assert for_csv(frame).write_csv().splitlines() == [
        "'=head,number",
        "'=cmd|' /C calc'!A0,-1.5",
        "'+1,0.0",
        "'-1+2,1.0",
        "'@x,2.0",
        "a=b,3.0",
        '"",4.0',
        ",5.0",
        r"\x1b[2J,6.0",
    ]
    areas = pl.DataFrame({"area": ["-1", "-1.5, -2, 1e-06, 3"]})
    assert for_csv(areas).equals(areas)


def test_durations_are_in_words_in_a_file_for_spreadsheets():
    frame = pl.DataFrame({"stay": [timedelta(7), timedelta(days=1, hours=2), None]})

    assert for_csv(frame).write_csv().splitlines() == ["stay", "7 days", '"1 day, 2:00:00"', ""]
