"""Errors in the words of the command line, and what was probably meant."""

import gzip

import pytest

from dpselect.cli.wording import in_options, with_suggestion

ASK = ("--column", "days", "--p", 50, "--upper", 20, "--step", 1,
       "--neighbours", "add-remove", "--epsilon", 1)  # fmt: skip


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("epsilon must be finite and > 0", "--epsilon must be finite and > 0"),
        ("user and max_per_user go together", "--user and --max-per-user go together"),
        ("give neighbours='edge'", "give --neighbours 'edge'"),
        ("the user is not there; user is a word", "the user is not there; user is a word"),
        ("column 'user' is of type String", "column 'user' is of type String"),
    ],
)
def test_arguments_of_functions_become_options(message, words):
    options = {"epsilon": "--epsilon", "user": "--user", "max_per_user": "--max-per-user",
               "neighbours": "--neighbours", "column": "--column"}  # fmt: skip

    assert in_options(message, options) == words


def test_only_a_name_that_is_near_is_suggested():
    assert with_suggestion("x must be one of ab, cd, not 'abc'").endswith("did you mean ab?")
    assert with_suggestion("x must be one of ab, cd, not 'xyz'").endswith("not 'xyz'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("percentile", "{stays}", *ASK, "--mechanism", "flip"), "--mechanism must be one of"),
        (("percentile", "{stays}", *ASK, "--epsilon", -1), "--epsilon must"),
        (("percentile", "{stays}", "--column", "dayz", *ASK[2:]), "did you mean 'days'?"),
        (("percentile", "{stays}", *ASK, "--neighbors", "edge"), "did you mean --neighbours?"),
        (("percentil",), "Did you mean 'percentile'?"),
        (("percentile", "{stays}", *ASK, "--separator", ";;"), "--separator must be one"),
    ],
)
def test_an_error_says_what_was_meant(run, stays, arguments, message):
    ran = run(*(str(one).format(stays=stays) for one in arguments))

    assert ran.code == 2
    assert message in ran.error


def test_values_of_an_option_are_joined_by_commas(run, stays):
    box = ("--x", "x", "--y", "y", "--bounds", 0, 0, 1, 1)
    ran = run("map", stays, *box, "--epsilon", 1)

    assert ran.code == 2
    assert "nothing takes the words 0 1 1: join the values of an option by commas" in ran.error


def test_without_arguments_the_help_is_printed_and_no_error(run):
    ran = run()

    assert (ran.code, ran.error) == (0, "")
    assert "percentile" in ran.out


def test_a_weight_in_the_help_is_no_emoji(run):
    assert "cost:-2:global=5" in run("select", "--help").out


@pytest.mark.parametrize("engine", ["memory", "polars"])
@pytest.mark.parametrize("kind", ["semicolons.csv", "tabs.tsv", "small.csv.gz"])
def test_text_files_of_every_kind_are_read(run, stays, kind, engine):
    text = stays.read_text(encoding="utf-8")
    path = stays.with_name(kind)
    more = ()
    if kind.startswith("semi"):
        path.write_text(text.replace(",", ";"), encoding="utf-8")
        more = ("--separator", ";")
    elif kind.startswith("tabs"):
        path.write_text(text.replace(",", "\t"), encoding="utf-8")
    else:
        path.write_bytes(gzip.compress(text.encode()))
    ran = run("percentile", path, *ASK[:-1], 1000, *more, "--engine", engine, "--json")

    assert ran.json["answer"] == [10.0]
