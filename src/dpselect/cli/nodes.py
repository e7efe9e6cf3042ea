"""``dpselect nodes`` and ``dpselect hubs``: the most influential nodes of a network."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dpselect.cli import options
from dpselect.cli.command import Given, Option, QueryCommand
from dpselect.errors import ColumnError, ParameterError

if TYPE_CHECKING:
    from dpselect.release import Release
    from dpselect.tables.kinds import Kind


def _node_set(text: str, given: Given) -> int | list[Hashable]:
    """Return the number of nodes, or the ids or labels in a file."""
    if text.isdecimal():
        return int(text)
    from dpselect.keys.rows import kind_in
    from dpselect.networks.reading import edge_file
    from dpselect.tables.key_columns import parsed
    from dpselect.tables.lists import listed_in

    kind: Kind = "text"
    if edge_file(given.table) is None:
        # What is wrong with the column is said by the check of all of them.
        with suppress(ColumnError):
            kind = kind_in(given.table, given.options["source"] or "source")
    return [parsed(one, kind) for one in listed_in("nodes", text)]


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


NODE_SET = Option(read=_node_set)


class _OfNodes(QueryCommand):
    """A command of nodes.

    Args:
        nodes: N for ids 0 to N-1, or ids or labels: a,b,c, or a file of one per line. Public.
    """

    def after(self, release: Release[Any], given: Given) -> dict[str, str]:
        """Return which ends are nodes, whatever ends there are."""
        return {"nodes": release.plan.public[0]}


class Nodes(_OfNodes):
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
    options = {"nodes": NODE_SET, "metric": Option(kind=list[str], read=_terms)}


class Hubs(_OfNodes):
    """Release the k hubs of a network by ego betweenness or density, in two steps.

    First the degrees of all nodes get noise, then the edges around the few nodes with the
    largest ones. The estimates are released with the nodes. --nodes is as for 'dpselect nodes'.

    $ dpselect hubs friends.parquet --nodes 36692 --k 5 --metric ego-betweenness --epsilon 1
    """

    name, query, options = "hubs", "Hubs", {"nodes": NODE_SET}
