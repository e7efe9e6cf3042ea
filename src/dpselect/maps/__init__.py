"""Maps of points: noisy counts in cells that are chosen privately for given queries.

``Map`` releases a map, ``HeavyCells`` of the package dpselect-applications the cells with most
points; ``grid_error`` and ``cell_counts`` are their objectives, for any mechanism.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
