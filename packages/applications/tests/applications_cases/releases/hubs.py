"""Releases of hubs of a network: two graphs that differ by one edge, or by one person."""

import dpselect as dp
from support.releases.networks import OF_PERSONS, case, frame, graph


def hubs(*, data, **more):
    asked = {"k": 2, "candidates": 5, "degrees_share": 0.5, **more}
    name = "ego-betweenness" + ", counted" * ("epsilon" in more)
    name += "" if asked["degrees_share"] else ", degrees alone"
    return case(name, dp.Hubs, asked, data=data)


CASES = [
    hubs(data=frame, **OF_PERSONS),
    hubs(data=graph),
    hubs(data=graph, degrees_share=None),
    hubs(data=graph, epsilon=100.0),
    hubs(data=frame, epsilon=200.0, **OF_PERSONS),
]
