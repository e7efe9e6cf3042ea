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
every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_release = pytest.mark.parametrize("name", RELEASES)


def parameters(function):
    return dict(inspect.signature(function).parameters)


def positional(function):
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [name for name, one in parameters(function).items() if one.kind in kinds]


def is_estimator(kind):
    return hasattr(kind, "get_params")


@every_function
def test_prices_relations_and_budgets_are_named(name):
    if name in OF_LAWS:
        return

    assert not set(positional(FUNCTIONS[name])) & set(LAST)


@every_function
def test_the_last_arguments_come_in_one_order(name):
    if name in OF_LAWS:
        return
    listed = list(parameters(FUNCTIONS[name]))
    last = [one for one in listed if one in LAST]
    place = {"outside": LAST.index("on_invalid")}
    order = [place.get(one, LAST.index(one)) for one in last]

    assert order == sorted(order)
    if {"epsilon", "budget"} <= set(last):
        first = listed.index("epsilon")
        between = listed[first : listed.index("budget") + 1]
        assert set(between) <= set(LAST), f"{name}: {between}"


@pytest.mark.parametrize("name", {**FUNCTIONS, **CLASSES})
def test_epsilon_and_neighbours_have_no_default(name):
    found = PUBLIC[name]
    if name in OF_LAWS:
        return
    if inspect.isclass(found) and (is_estimator(found) or found.__init__ is object.__init__):
        return
    try:
        listed = parameters(found)
    except ValueError:  # a class of the standard library, such as an enumeration
        return
    for argument in ("epsilon", "neighbours"):
        if argument in listed:
            assert listed[argument].default is Parameter.empty


@pytest.mark.parametrize("name", {**FUNCTIONS, **CLASSES})
def test_pictures_take_axes(name):
    found = PUBLIC[name]
    plots = (
        {name: found}
        if inspect.isfunction(found)
        else {
            f"{name}.{method}": function
            for method, function in inspect.getmembers(found, inspect.isfunction)
        }
    )
    for plot, function in plots.items():
        if plot.rsplit(".", maxsplit=1)[-1].startswith("plot"):
            listed = parameters(function)
            assert {"ax", "axes"} & set(listed), plot
            if "axes" in listed:
                assert any(
                    word in str(listed["axes"].annotation)
                    for word in ("Sequence", "ndarray", "NDArray")
                ), f"{plot} takes one axes: call it ax"
            taken = listed.get("ax", listed.get("axes"))
            assert taken.default is None


@pytest.mark.parametrize("name", {**FUNCTIONS, **CLASSES})
def test_records_that_do_not_fit_have_one_vocabulary(name):
    if inspect.isclass(PUBLIC[name]) and issubclass(PUBLIC[name], BaseException):
        return
    try:
        listed = parameters(PUBLIC[name])
    except ValueError:
        return
    assert not set(listed) & OTHER_WORDS
    if "on_invalid" in listed:
        assert listed["on_invalid"].default in {"repair", Parameter.empty}
    if "outside" in listed:
        assert listed["outside"].default in {"drop", "clip", Parameter.empty}


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
