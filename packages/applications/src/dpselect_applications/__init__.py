"""Applications of dpselect beyond the four papers, each a room of its own.

Counts of a tree of codes, running counts, the densest cells of a map, the columns of a table
that say most about its labels, hubs of a network, variants of a study, and private tuning.
``dpselect`` offers their names as its own where this package is installed.
"""

from dpselect.extend import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
