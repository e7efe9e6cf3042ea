"""The most influential nodes of a network with private edges.

``TopNodes`` draws nodes by centralities, and ``Hubs`` of dpselect-applications through noisy
degrees. A graph on public nodes becomes an objective over them: a centrality, with a bound on
its change by one edge.

Source: Farias et al., Local Dampening, VLDB J. 2023, section 6.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
