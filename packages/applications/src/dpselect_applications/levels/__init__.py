"""Counts of a tree of codes, in as much detail as the counts support.

``Levels`` chooses the detail privately; ``path_tree`` and ``prefix_tree`` make trees.
"""

from dpselect_applications.levels.hierarchy import path_tree, prefix_tree
from dpselect_applications.levels.levels import Levels
from dpselect_applications.levels.release import LevelsRelease

__all__ = ["Levels", "LevelsRelease", "path_tree", "prefix_tree"]


def __dir__() -> list[str]:
    return sorted(__all__)
