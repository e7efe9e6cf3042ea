"""``dpselect hubs``: the hubs of a network by ego betweenness."""

from __future__ import annotations

from dpselect.extend import OfNodes


class Hubs(OfNodes):
    """Release the k hubs of a network by ego betweenness, in two steps.

    First the degrees of all nodes get noise, then the edges around the few nodes with the
    largest ones. The estimates are released with the nodes. --nodes is as for 'dpselect nodes'.

    $ dpselect hubs friends.parquet --nodes 36692 --k 5 --metric ego-betweenness --epsilon 1
    """

    name, query = "hubs", "Hubs"
