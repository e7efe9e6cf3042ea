"""Conventions of signatures: one order, one vocabulary, a plan for every release."""

import inspect
from importlib import import_module
from inspect import Parameter

import pytest

import dpselect as dp

ROOMS = [name for name in dp.__all__ if name not in dp._HOME]
APPLICATIONS = (
    "categories",
    "networks",
    "percentiles",
    "pooling",
    "retrieval",
    "spatial",
    "trees",
    "tuning",
)
LAST = ["epsilon", "delta", "neighbours", "mechanism", "budget", "on_invalid", "outside"]
"""Keyword-only arguments that end a signature, in this order; the last two in any."""

OTHER_WORDS = {"strict", "self_loops", "unknown", "on_error", "on_missing"}
"""Names that other libraries have for what `on_invalid` and `outside` say here."""

OF_LAWS = {
    "audit.check_admissible",  # a universe is one together with its relation
    "audit.check_private",
    "audit.delta",  # functions of epsilon in the mathematical sense
    "mechanisms.by_name",
    "retrieval.theorem_1_lower",
}
"""Functions whose epsilon or relation is what they are about, not a price."""


READ_OFF_THE_DATA = {"records", "nodes"}
"""Sizes that are public under the relation: a release reads them, a plan takes them."""

PRICED_BY = {"pooling.release_outcomes": "flip", "tuning.release_best": "epsilon_per_run"}
"""Releases whose epsilon follows from another public argument."""


def exported():
    """Yield the full name and the object of every public class and function."""
    for room in ROOMS:
        try:
            module = import_module(f"dpselect.{room}")
        except ModuleNotFoundError:
            continue
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield f"{room}.{name}", getattr(module, name)
    for name in dp._HOME:
        yield name, getattr(dp, name)


PUBLIC = dict(exported())
FUNCTIONS = {name: found for name, found in PUBLIC.items() if inspect.isfunction(found)}
CLASSES = {name: found for name, found in PUBLIC.items() if inspect.isclass(found)}
RELEASES = {name: found for name, found in FUNCTIONS.items() if ".release_" in name}
every_release = pytest.mark.parametrize("name", RELEASES)


def parameters(function):
    return dict(inspect.signature(function).parameters)


def positional(function):
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [name for name, one in parameters(function).items() if one.kind in kinds]


def is_estimator(kind):
    return hasattr(kind, "get_params")


def signatures():
    """Yield the full name and the parameters of all that is public and has a signature."""
    for name, found in PUBLIC.items():
        if inspect.isclass(found) and issubclass(found, BaseException):
            continue
        try:
            yield name, parameters(found)
        except ValueError:  # a class of the standard library, such as an enumeration
            continue


def plots():
    """Yield the full name and the parameters of every public function that draws a picture."""
    for name, found in PUBLIC.items():
        methods = inspect.getmembers(found, inspect.isfunction) if name in CLASSES else []
        named = {f"{name}.{method}": function for method, function in methods} or {name: found}
        for plot, function in named.items():
            if plot.rsplit(".", maxsplit=1)[-1].startswith("plot"):
                yield plot, parameters(function)


def test_prices_relations_and_budgets_are_named():
    for name in FUNCTIONS.keys() - OF_LAWS:
        assert not set(positional(FUNCTIONS[name])) & set(LAST), name


def test_the_last_arguments_come_in_one_order():
    place = {"outside": LAST.index("on_invalid")}
    for name in FUNCTIONS.keys() - OF_LAWS:
        listed = list(parameters(FUNCTIONS[name]))
        last = [one for one in listed if one in LAST]
        order = [place.get(one, LAST.index(one)) for one in last]

        assert order == sorted(order), name
        if {"epsilon", "budget"} <= set(last):
            first = listed.index("epsilon")
            between = listed[first : listed.index("budget") + 1]
            assert set(between) <= set(LAST), f"{name}: {between}"


def test_epsilon_and_neighbours_have_no_default():
    for name, listed in signatures():
        found = PUBLIC[name]
        plain = inspect.isclass(found) and found.__init__ is object.__init__
        if name in OF_LAWS or plain or is_estimator(found):
            continue
        for argument in {"epsilon", "neighbours"} & set(listed):
            assert listed[argument].default is Parameter.empty, name


def test_pictures_take_axes():
    several = ("Sequence", "ndarray", "NDArray")
    drawn = dict(plots())

    assert drawn
    for plot, listed in drawn.items():
        assert {"ax", "axes"} & set(listed), plot
        if "axes" in listed:
            annotation = str(listed["axes"].annotation)
            assert any(word in annotation for word in several), f"{plot} takes one axes: ax"
        assert listed.get("ax", listed.get("axes")).default is None, plot


def test_records_that_do_not_fit_have_one_vocabulary():
    for name, listed in signatures():
        assert not set(listed) & OTHER_WORDS, name
        if "on_invalid" in listed:
            assert listed["on_invalid"].default in {"repair", Parameter.empty}, name
        if "outside" in listed:
            assert listed["outside"].default in {"drop", "clip", Parameter.empty}, name


@pytest.mark.parametrize("room", ["categories", "networks", "percentiles", "spatial"])
def test_applications_release(room):
    assert any(name.startswith(f"{room}.release_") for name in RELEASES)


@every_release
def test_a_release_states_a_price_and_takes_a_budget(name):
    listed = parameters(RELEASES[name])

    assert listed[PRICED_BY.get(name, "epsilon")].kind is Parameter.KEYWORD_ONLY
    assert listed["budget"].default is None


@every_release
def test_every_release_has_a_plan_with_the_same_public_arguments(name):
    """All but the data, which come first, the budget, and how records are read."""
    release = RELEASES[name]
    plan = FUNCTIONS[name.replace(".release_", ".plan_")]
    reading = {"on_invalid", "outside"}
    public = {
        argument: (one.kind, one.default)
        for argument, one in parameters(release).items()
        if argument not in {*reading, "budget"}
    }
    planned = {
        argument: (one.kind, one.default)
        for argument, one in parameters(plan).items()
        if argument not in {*reading, *READ_OFF_THE_DATA}
    }
    data = [argument for argument in public if argument not in planned]

    assert data, "a release reads data"
    assert data == positional(release)[: len(data)]
    assert list(planned.items()) == [
        (argument, one) for argument, one in public.items() if argument not in data
    ]


@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if name.split(".")[-1].startswith("plan_")]
)
def test_every_plan_has_its_release(name):
    siblings = {name.replace(".plan_", f".{verb}_") for verb in ("release", "draw")}
    assert siblings & set(FUNCTIONS)
