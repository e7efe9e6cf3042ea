"""Conventions: the fields of queries and the arguments of functions have one vocabulary."""

import inspect
import re
from dataclasses import MISSING, fields
from inspect import Parameter
from pathlib import Path

import pytest

import dpselect as dp
from dpselect.writing import documented
from support.public import classes, every_name, every_query, functions

LAST = ["epsilon", "delta", "neighbours", "mechanism"]
"""What ends the fields of a query, and the arguments of a function, in this order."""

READS = {"on_invalid": {"repair"}, "outside": {"drop", "clip"}, "missing_keys": {"drop"}}
"""What may stand after these: how records are read that do not fit, with the defaults."""

OTHER_WORDS = {
    *("strict", "self_loops", "unknown", "on_error", "on_missing", "clip"),
    *("group", "persons", "max_points_per_user", "max_rows_per_user", "neighbors", "eps"),
}
"""Other libraries' names, and our own of before, for what fields say here."""

OF_LAWS = {
    "audit.check_admissible",  # a universe is one together with its relation
    "audit.check_private",
    "audit.delta",  # functions of epsilon in the mathematical sense
    "mechanisms.by_name",
}
"""Functions whose epsilon or relation is what they are about, not a price."""

PRICED_BY = {"Selection": "mechanism", "BestOf": "repetitions"}
"""Queries whose epsilon follows from another required field."""

LONGEST_SENTENCE = 100
"""Of the help of an option, which a terminal shows on two lines."""

QUERIES = every_query()
every_kind = pytest.mark.parametrize("kind", QUERIES, ids=lambda kind: kind.__name__)


def defaults(kind):
    return {one.name: one.default for one in fields(kind)}


def parameters(function):
    return dict(inspect.signature(function).parameters)


def signatures():
    """Yield the full name and the parameters of all that is public and has a signature."""
    for name, found in every_name().items():
        if (inspect.isclass(found) and issubclass(found, BaseException)) or not callable(found):
            continue
        try:
            yield name, parameters(found)
        except ValueError:  # a class of the standard library, such as an enumeration
            continue


def plots():
    """Yield the full name and the parameters of every public function that draws a picture."""
    for name, found in every_name().items():
        methods = inspect.getmembers(found, inspect.isfunction) if name in classes() else []
        named = {f"{name}.{method}": function for method, function in methods} or {name: found}
        for plot, function in named.items():
            if plot.rsplit(".", maxsplit=1)[-1].startswith("plot") and callable(function):
                yield plot, parameters(function)


def test_a_docstring_names_a_thing():
    """A height, not what something is the height of."""
    source = Path(dp.__file__).parent
    lines = [one for path in source.rglob("*.py") for one in path.read_text().splitlines()]

    assert not [line for line in lines if re.match(r' *("""|\w+: )Of ', line)]


def test_there_are_queries_in_most_rooms():
    homes = {".".join(kind.__module__.split(".")[:2]) for kind in QUERIES}
    rooms = {"keys", "maps", "mechanisms", "networks", "percentiles", "subsets"}

    assert homes >= {f"dpselect.{room}" for room in rooms}


class TestQueries:
    @every_kind
    def test_it_is_offered_by_the_package_under_its_name(self, kind):
        assert getattr(dp, kind.__name__) is kind

    @every_kind
    def test_what_ends_its_fields_is_in_one_order(self, kind):
        names = [*defaults(kind)]
        last = [name for name in names if name in LAST]
        if PRICED_BY.get(kind.__name__) in last:
            last.remove(PRICED_BY[kind.__name__])

        own = [name for name in kind.__annotations__ if name in names]
        after = own[own.index("epsilon") :] if "epsilon" in own else []

        assert last == sorted(last, key=LAST.index)
        assert set(after) <= {*LAST, *READS}

    @every_kind
    def test_prices_and_relations_have_no_default(self, kind):
        given, price = defaults(kind), PRICED_BY.get(kind.__name__, "epsilon")

        assert given[price] is MISSING
        assert given.get("neighbours", MISSING) is MISSING

    @every_kind
    def test_persons_are_a_column_and_a_number_of_rows(self, kind):
        given = defaults(kind)
        names = [*given]

        assert ("user" in names) == ("max_per_user" in names)
        if "user" in names:
            assert names.index("max_per_user") == names.index("user") + 1
            assert (given["user"], given["max_per_user"]) == (None, None)

    @every_kind
    def test_its_words_are_those_of_all(self, kind):
        given = defaults(kind)

        assert not set(given) & OTHER_WORDS
        assert all(given[one] in READS[one] for one in READS.keys() & given.keys())
        assert given.get("mechanism", None) is None or kind.__name__ in PRICED_BY

    @every_kind
    def test_every_field_is_documented_in_its_place(self, kind):
        assert list(documented(kind)) == [*defaults(kind)]
        assert any("Guarantee:" in (one.__doc__ or "") for one in kind.__mro__)

    @every_kind
    def test_the_first_sentence_of_a_field_stands_alone(self, kind):
        for name, sentence in documented(kind).items():
            assert sentence.endswith("."), f"{name}: {sentence}"
            assert len(sentence) <= LONGEST_SENTENCE, f"{name}: {sentence}"
            assert "`" not in sentence, f"{name}: {sentence}"
            assert sentence[0].isupper() or sentence[0] == '"', f"{name}: {sentence}"
            first = sentence.split(maxsplit=1)[0]
            assert first not in {"Of", "As", "It", "That", "Which"}, f"{name}: {sentence}"


class TestFunctions:
    def test_no_function_plans_or_releases(self):
        """A query does, and so does a mechanism, and an estimator."""
        found = {name.rsplit(".", maxsplit=1)[-1] for name in functions()}

        assert not {name for name in found if name.startswith(("release_", "plan_", "draw_"))}

    def test_prices_and_relations_are_given_by_name_and_last_in_one_order(self):
        for name in functions().keys() - OF_LAWS:
            listed = parameters(functions()[name])
            last = [one for one in listed if one in LAST]

            assert last == sorted(last, key=LAST.index), name
            for one in {*last, "budget"} & set(listed):
                assert listed[one].kind is Parameter.KEYWORD_ONLY, name

    def test_epsilon_and_neighbours_have_no_default(self):
        for name, listed in signatures():
            found = every_name()[name]
            plain = inspect.isclass(found) and found.__init__ is object.__init__
            if name in OF_LAWS or plain or hasattr(found, "get_params"):
                continue
            for argument in {"epsilon", "neighbours"} & set(listed):
                assert listed[argument].default is Parameter.empty, name

    def test_pictures_take_axes(self):
        several = ("Sequence", "ndarray", "NDArray")
        drawn = dict(plots())

        assert drawn
        for plot, listed in drawn.items():
            assert {"ax", "axes"} & set(listed), plot
            if "axes" in listed:
                annotation = str(listed["axes"].annotation)
                assert any(word in annotation for word in several), f"{plot} takes one axes: ax"
            assert listed.get("ax", listed.get("axes")).default is None, plot

    def test_records_that_do_not_fit_have_one_vocabulary(self):
        for name, listed in signatures():
            assert not set(listed) & OTHER_WORDS, name
            for one in READS.keys() & set(listed):
                assert listed[one].default in READS[one] | {Parameter.empty}, name
