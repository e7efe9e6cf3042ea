"""Errors: a message names arguments, which somebody else may know by another word."""

import pickle

import pytest

import dpselect as dp
from dpselect import errors
from dpselect.errors import (
    DataError,
    DPSelectError,
    LedgerError,
    ParameterError,
    no_column,
)

KINDS = [getattr(errors, name) for name in errors.__all__]


def test_arguments_stand_in_backquotes_that_are_not_printed():
    error = ParameterError("give `k` or `max_per_user`=2, not `k` alone")

    assert str(error) == "give k or max_per_user=2, not k alone"
    assert error.args == (str(error),)
    assert error.arguments == ("k", "max_per_user")


def test_naming_writes_other_words_for_the_arguments_alone():
    error = ParameterError("`k` must be below 3; column 'k' and k=2 stay, `neighbours`='edge'")

    assert error.naming(lambda name: f"--{name}") == (
        "--k must be below 3; column 'k' and k=2 stay, --neighbours 'edge'"
    )
    assert error.naming(lambda name: name) == str(error).replace("neighbours=", "neighbours ")


def test_what_is_no_argument_is_left_as_it_is():
    error = ParameterError("no `such thing` as `a-b`, and a single `")

    assert error.arguments == ()
    assert error.naming(str.upper) == str(error) == "no such thing as a-b, and a single "


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("day", "there is no column 'day'; did you mean 'days'? the columns are: days, ward"),
        ("x", "there is no column 'x'; the columns are: days, ward"),
    ],
)
def test_a_missing_column_is_named_with_the_nearest(name, said):
    error = no_column(name, ["days", "ward"])

    assert (str(error), error.missing) == (said, name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_ours_and_one_of_pythons(kind):
    python = [one for one in kind.__mro__ if one.__module__ == "builtins"]

    assert issubclass(kind, DPSelectError)
    assert (
        python[0] in {ValueError, ImportError, AttributeError, AssertionError}
        or kind is DPSelectError
    )
    assert kind.__name__ in errors.__doc__


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_pickles(kind):
    found = pickle.loads(pickle.dumps(kind("`k` is odd")))  # noqa: S301 -- our own bytes

    assert (type(found), str(found), found.naming(str.upper)) == (kind, "k is odd", "K is odd")


@pytest.mark.parametrize("name", ["a\0.csv", "\ud800.csv", "x" * 5000 + ".parquet"])
@pytest.mark.parametrize("made_of", ["data", "ledger", "policy", "request", "path", "map"])
def test_a_name_that_no_file_can_have_is_refused(name, made_of):
    policy = {"unit": {"neighbours": "edge"}, "release": {"epsilon": 1.0}}
    path = {"data": {"path": name}}
    openers = {
        "data": dp.PercentileRecord(p=50, upper=9, epsilon=1.0).release,
        "ledger": dp.Budget.open,
        "policy": dp.Policy.read,
        "request": dp.Request.read,
        "path": lambda _: dp.Request.from_dict(
            {"queries": [], **path}, policy=dp.Policy.from_dict(policy | path)
        ),
        "map": dp.maps.MapRelease.from_parquet,
    }
    with pytest.raises((DataError, LedgerError)):
        openers[made_of](name)


def test_columns_are_named_on_one_line_and_of_many_some():
    many = [f"column {k}\n{'x' * 99}" for k in range(500)]
    said = str(no_column("z", ["a\nb", *many]))

    assert "a b, column 0 xxx" in said
    assert said.endswith(" and 481 more")
    assert "\n" not in said
    assert len(said) < 1000
