"""Commands that are made of one query alone: what a table, or a network, is asked for.

``dpselect percentile``, ``record``, ``top``, ``keys``, ``nodes``, ``subset``, ``tree``
and ``trees-front``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpselect import validation
from dpselect.cli import options
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from dpselect.release import Release
    from dpselect.trees import ID3Tree, TreeFront


def names_in(text: str | Sequence[str], given: Given) -> list[str]:
    """Return names of columns that are separated by commas, or given one by one."""
    from dpselect import tables

    several = [text] if isinstance(text, str) else text
    if not any("," in one for one in several):
        return [*several]
    held = tables.schema(tables.open_table(given.table), given.table)
    return [name for one in several for name in ([one] if one in held else one.split(","))]


def _values(field: str, text: str, column: str, given: Given) -> list[Hashable]:
    """Return public values of a column that are typed, or listed in a file."""
    from dpselect.keys.rows import kind_in
    from dpselect.tables.lists import listed_in

    kind = kind_in(given.table, column)
    return [kind.decode(one) for one in listed_in(field, text)]


def values_of(field: str, column: str) -> Option:
    """Return the option of a field that lists public values of one column.

    Args:
        field: The field.
        column: The field that names the column.
    """

    def read(text: str, given: Given) -> list[Hashable]:
        named = given.options[column]
        if not named or (isinstance(named, list) and len(named) > 1):
            raise ParameterError(f"`{field}` is for one column, `{column}`")
        return _values(field, text, named[0] if isinstance(named, list) else named, given)

    return Option(read=read)


def _groups(text: str | Sequence[str], given: Given) -> Any:
    if not (names := names_in(given.options["by"] or (), given)):
        raise validation.goes_with("groups", "by")
    lists = [text] if isinstance(text, str) else text
    if len(lists) != len(names):
        raise ParameterError("`groups` needs one list for each column of `by`, in its order")
    found = {
        name: _values("groups", one, name, given)
        for name, one in zip(names, lists, strict=True)
    }
    return found if len(names) > 1 else found[names[0]]


def _by(text: str | Sequence[str], given: Given) -> list[str] | str:
    names = names_in(text, given)
    return names if len(names) > 1 else names[0]


BY = {"by": Option(kind=list[str], read=_by), "groups": Option(kind=list[str], read=_groups)}
"""Options of groups."""


class Values(QueryCommand):
    """Release the values of a column that enough people have.

    With --user all rows of a person are protected together, and at most --max-per-user
    different values of each person are counted; without it one row is protected. --dry-run
    prints how many people a value needs to be released.

    $ dpselect keys visits.parquet --column diagnosis --user patient --max-per-user 3
    --epsilon 1 --delta 1e-6 --neighbours add-remove

    $ dpselect keys visits.parquet --column diagnosis --by ward --other --epsilon 1
    --delta 1e-6 --neighbours add-remove

    With --by the values of each group are released, for one epsilon; with --other the noisy
    number of all others, too.

    With --engine spark only values of at least --min-people leave the cluster, and with --other
    all values.
    """

    name, query, options = "keys", "Keys", BY
    leaving = "Only counts, and of DuckDB the different values of persons,"


class Top(QueryCommand):
    """Release the k values of a column that most people have.

    With --candidates the answer is drawn from these public values. Without them, the counts of
    all values get noise, and the largest ones above a threshold are released with their noisy
    counts; this needs --delta. With --user all rows of a person are protected together, and at
    most --max-per-user different values of each person are counted; without it one row is
    protected. --dry-run prints how many people a value needs to be released.

    $ dpselect top visits.parquet --column diagnosis --k 10 --user patient --max-per-user 3
    --epsilon 1 --delta 1e-6 --neighbours add-remove

    $ dpselect top visits.csv --column ward --k 3 --candidates wards.txt --epsilon 0.5
    --neighbours add-remove

    With --by the most common values of each group are released. The groups are public
    (--groups), or those with a value above the threshold; with --candidates the groups are
    released first. With --other the noisy number of all other values is released, too.

    With --above instead of --k, all candidates with at least this noisy count are released.

    With --engine spark only counts leave the cluster: those of the candidates, or of all
    values.

    Args:
        candidates: Public values: a list as a,b,c, or a text file with one per line.
    """

    name, query = "top", "TopKeys"
    options = {"candidates": values_of("candidates", "column"), **BY}


class Percentile(QueryCommand):
    """Release a public value near a percentile, or several.

    The candidates are --lower, --lower + --step and so on up to --upper. Without --upper they
    have no upper end, and with --lower -inf no lower end.

    $ dpselect percentile stays.parquet --column days --p 90 --upper 60 --step 1
    --neighbours add-remove --epsilon 1

    $ dpselect percentile stays.csv --column days --p 25,50,75,90 --upper 60 --step 1
    --user patient --max-per-user 3 --neighbours add-remove --epsilon 1

    $ dpselect percentile pay.csv --column pay --p 99 --step 0.01
    --neighbours add-remove --epsilon 1

    $ dpselect percentile stays.parquet --column days --p 50,90 --upper 60 --step 1
    --by ward --groups wards.txt --neighbours add-remove --epsilon 1

    With --by every group gets an answer, for one epsilon in total. The groups are public
    (--groups), or those with enough people, which needs --delta.

    $ dpselect percentile stays.csv --column discharged --minus admitted --p 90 --upper 60d
    --step 1d --neighbours add-remove --epsilon 1

    With another --engine than memory only ranks leave it, if there are at most 100,001
    candidates; otherwise the column is read.

    Args:
        p: Percentile, up to 100; or several, as 50,90,99.
        interval: Probability with which an interval around each value contains the percentile,
            by default 0.95; 0 for no intervals.
        candidates: The candidates, instead of a range, as 0,7,14.
    """

    name, query, numeric = "percentile", "Percentiles", True
    options = {
        "interval": Option(read=lambda given, _given: given or None, kind=float, default=0.95),
        **BY,
    }


class Record(QueryCommand):
    """Release which record holds a percentile, rarely what you want.

    The answer is its row number from 0, or its label. This is PercentileSelection (local
    dampening): --mechanism exponential, permute-and-flip and local-dampening are its EM, PF and
    LD; the default is the shifted form.

    Neighbours differ in the value of one record (substitution); the number of records, their
    order and labels are public. At a small epsilon 'dpselect percentile' is far more accurate.

    $ dpselect record stays.parquet --column days --p 90 --upper 60 --label ward --epsilon 10
    """

    name, query, numeric = "record", "PercentileRecord", True
    left_out = ("where",)

    def after(self, release: Release[Any], given: Given) -> Mapping[str, object]:
        """Return that an answer says nothing, if it does."""
        said = {} if release.query is None else release.query.predicted()
        return {name: said[name] for name in ("beware",) if name in said}


def _node_set(text: str, given: Given) -> int | list[Hashable]:
    """Return the number of nodes, or the ids or labels in a file."""
    if text.isdecimal():
        return int(text)
    from dpselect.keys.rows import kind_in
    from dpselect.networks.reading import edge_file
    from dpselect.tables.kinds import Kind
    from dpselect.tables.lists import listed_in

    kind = Kind.TEXT
    if edge_file(given.table) is None:
        # What is wrong with the column is said by the check of all of them.
        with suppress(ColumnError):
            kind = kind_in(given.table, given.options["source"] or "source")
    return [kind.decode(one) for one in listed_in("nodes", text)]


def _terms(
    given: str | tuple[str, ...], _given: Given
) -> str | dict[str, float] | list[str | dict[str, float]]:
    """Return one metric, or several that are separated by commas or given apart."""
    words = ",".join([given] if isinstance(given, str) else given).split(",")
    terms = [_term(word) for word in words]
    return terms[0] if len(terms) == 1 else terms


def _term(text: str) -> str | dict[str, float]:
    """Return a name, or the weights of several: ``ego-density:100 + ego-betweenness``."""
    parts = [part.partition(":") for part in text.split(options.PLUS)]
    if len(parts) == 1:
        return text
    if len({name for name, *_ in parts}) < len(parts):
        raise ParameterError(f"a weighted sum in `metric` has each metric once, not {text!r}")
    return {
        name: options.numbers("metric", weight)[0] if given else 1.0
        for name, given, weight in parts
    }


class OfNodes(QueryCommand):
    """A command of nodes.

    Args:
        nodes: N for ids 0 to N-1, or ids or labels: a,b,c, or a file of one per line. Public.
    """

    options = {"nodes": Option(read=_node_set)}

    def after(self, release: Release[Any], given: Given) -> dict[str, str]:
        """Return which ends are nodes, whatever ends there are."""
        return {"nodes": release.plan.public[0]}


class Nodes(OfNodes):
    """Release the k most influential nodes of a network; one edge is protected.

    By one metric this is PrivTopk (local dampening): --mechanism exponential, permute-and-flip,
    local-dampening and shifted are its EM, PF, LD and SLD. By several it is DP-MOTkIN, by
    PrivPareto (--combine pareto) or PrivAgg (--combine weighted-sum).

    --nodes is public: the number of nodes, if ids are 0 to N-1, or all ids or labels. Edges are
    a table, or a file of SNAP (.txt), GraphML, GML, Pajek or MatrixMarket. With several
    metrics, nodes are ranked by all of them. Edges to other nodes, or from a node to itself,
    are dropped. With --above instead of --k, all nodes with at least this noisy score are
    released. With --user all rows of a person are protected together, such as the calls of a
    customer, and at most --max-per-user different edges of each person are counted. Without it,
    one edge is protected. With --engine spark only counts of nodes leave the cluster.

    $ dpselect nodes friends.parquet --nodes 36692 --k 5 --metric ego-betweenness --epsilon 1

    $ dpselect nodes friends.csv --nodes people.txt --k 3 --metric degree,ego-density
    --combine margin --epsilon 1

    Args:
        metric: degree: how many neighbours it has, ego-density: share of pairs of its
            neighbours that are neighbours, ego-betweenness: how many pairs of its neighbours it
            connects; or several, as degree,ego-density. A weighted sum of some is one of them,
            as 'ego-density:100 + ego-betweenness'.
        combine: How several metrics are one: pareto, weighted-sum, margin.
    """

    name, query = "nodes", "TopNodes"
    options = {**OfNodes.options, "metric": Option(kind=list[str], read=_terms)}


class Positives(QueryCommand):
    """Release who tested positive, with a few errors: private subset retrieval.

    --scheme ball is its Algorithm A1 as proved, union A2, optimal the least delta of all.

    The table has one row per person. The people, their order, their number and what --where
    keeps them by are public; the statuses are private. With --label the answer has the names of
    that column, otherwise row numbers from 0. The number of positives is private and costs a
    share of epsilon, unless --d declares it public; neighbours then differ in one positive who
    is exchanged for another person (swap).

    $ dpselect subset results.csv --column result --positive positive --label sample
    --epsilon 6

    $ dpselect subset results.csv --column ct --positive '< 38' --where "ward = 'A'"
    --label sample --epsilon 6

    $ dpselect subset results.csv --column result --positive positive --d 20
    --scheme optimal --beta 8 --epsilon 2 --dry-run

    The pure scheme needs no delta. Naming individuals needs a large epsilon: look at the error
    of a dry run first.

    Args:
        positive: Status of a positive; may be repeated. Or a bound of numbers, as '< 38'.
    """

    name, query, left_out = "subset", "Subset", ("n",)
    leaving = "The statuses and the labels"
    options = {"positive": Option(kind=list[str])}

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the number of people: that of the rows, which is public."""
        from dpselect import tables

        return {"n": tables.count_records(given.table, plain=[given.options["column"]])}


class _OfTrees(QueryCommand):
    """A command that trains trees.

    Args:
        domains: The domains file (JSON), which states public claims.
        label: The column of the labels, as the domains file names it.
        save: Write what is released as JSON.
        test: Public records to measure the accuracy on.
        test_is_public: Declare that the test data are public: the accuracy is exact.
    """

    draws, left_out = True, ("classes", "max_records")
    options = {"domains": Option(kind=Path)}
    more = {"save": Path, "test": Path, "test_is_public": bool}

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the fields that the domains file states."""
        from dpselect.trees import read_domains

        path, label = given.options["domains"], given.options["label"]
        stated = read_domains(path)
        if label not in {None, stated["label"]}:
            raise ColumnError(f"`label` is {label!r} and {path} declares {stated['label']!r}")
        return {**stated, "classes": tuple(stated["classes"])}

    def check(self, query: ID3Tree | TreeFront, given: Given) -> None:
        """Check that the test data are public."""
        asked = given.options
        if asked["test"] is None:
            return
        if not asked["test_is_public"]:
            raise ParameterError(
                "`test` prints an exact accuracy, which no epsilon protects: use public "
                "records and say `test_is_public`"
            )
        _test_rows(query).check(asked["test"])

    def after(self, release: Any, given: Given) -> Mapping[str, object]:
        """Return the accuracy on public records, and write the release."""
        facts: dict[str, object] = {}
        if given.options["test"] is not None:
            tested = _test_rows(release.query).coded(given.options["test"])
            answers = release.tree.probabilities(tested.codes).argmax(axis=1)
            facts["test accuracy"] = f"{(answers == tested.labels).mean():.4g}"
        if given.options["save"] is not None:
            given.options["save"].write_text(release.to_json(), encoding="utf-8")
        return facts


def _test_rows(query: Any) -> Any:
    """Return how public records are read: all that there are, by the domains declared."""
    return replace(query.design().rows, users=None, on_invalid="repair")


class Tree(_OfTrees):
    """Train a decision tree privately; print it with its plan.

    With --splits values --criterion information-gain it is DiffPID3 (local dampening):
    --mechanism exponential, local-dampening and shifted are its global, local and shifted
    forms.

    --domains is a file of public claims: the column of the labels, the classes, a domain for
    every column, and a bound on the number of records; 'dpselect domains' writes a template.
    Values outside their domain are repaired. With --user all rows of a person are protected
    together, and at most --max-per-user of each are counted; without it one row is protected.

    $ dpselect tree adult.parquet --domains adult.json --epsilon 1 --neighbours add-remove

    $ dpselect tree visits.parquet --domains visits.json --user patient --max-per-user 3
    --epsilon 1 --neighbours add-remove

    With --engine polars or spark only counts leave the engine.
    """

    name, query = "tree", "ID3Tree"


class Front(_OfTrees):
    """Evolve cost-sensitive trees privately and show how they trade the two rates.

    This is DP-MOET, with PrivPareto or PrivAgg as its selection; the defaults are ours.

    $ dpselect trees-front adult.parquet --domains adult.json --epsilon 1
    --neighbours add-remove --weights 3,2 --plot front.png

    As the paper has it, by the inputs of its Algorithm 1:

    $ dpselect trees-front adult.parquet --domains adult.json --epsilon 1
    --neighbours add-remove --dp-moet p=100,s=20,k=2,d=3,d_max=5,o=1

    These are DP-MOET-Pareto with local sensitivities; --rate-bound global has global ones, and
    --selection weighted-sum is DP-MOET-Agg. --mechanism is what draws the trees.

    Args:
        dp_moet: Inputs of the paper's Algorithm 1, as p=100,s=20,k=2,d=3,d_max=5,o=1: DP-MOET
            as published, but for the fields that are given themselves.
    """

    name, query = "trees-front", "TreeFront"
    more = {**_OfTrees.more, "dp_moet": str}

    def declared(self, given: Given) -> Mapping[str, Any]:
        """Return the same, and the fields of DP-MOET that were not given themselves."""
        declared, asked = super().declared(given), given.options
        if asked["dp_moet"] is None:
            return declared
        from dpselect.trees import dp_moet

        inputs: dict[str, Any] = {
            name: asked[name] for name in ("selection", "rate_bound") if asked[name]
        }
        try:
            pairs = (one.split("=") for one in asked["dp_moet"].split(","))
            fields = dp_moet(**inputs | {name: int(number) for name, number in pairs})
        except ParameterError:
            raise
        except (TypeError, ValueError):
            raise ParameterError(
                "`dp_moet` must be the inputs of Algorithm 1, as p=100,s=20,k=2,d=3,d_max=5,o=1"
            ) from None
        return {
            **{name: one for name, one in fields.items() if asked[name] is None},
            **declared,
        }

    def after(self, release: Any, given: Given) -> Mapping[str, object]:
        """Return the best tree, too."""
        best = "\n".join(release.tree.summary())
        return {f"tree {release.best}": best, **super().after(release, given)}
