"""Public trees of codes: from parents, paths or prefixes of codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from dpselect.errors import ParameterError
from dpselect.extend import Indices, validation

TOTAL = "(all)"
"""The root above several codes that have no parent."""

OWN = " *"
"""Ends the name of the leaf that has the rows of an inner code itself."""

LEAST_LEAVES = 2

MOST_CODES = 2**17
"""Codes of a tree at most: sums over cuts then take some seconds, and fit 64 bits."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Positions in a tree: depth-first, so that all that is below a node follows it.

    Attributes:
        children: Children of each node; node 0 is the root.
        depths: Depth of each node, from 0 on; shape ``(n,)``.
        first: How many leaves come before a node; shape ``(n,)``.
        last: The same, with its own leaves.
    """

    children: tuple[tuple[int, ...], ...]
    depths: Indices
    first: Indices
    last: Indices

    @property
    def leaves(self) -> Indices:
        """How many leaves each node has; 1 of a leaf itself."""
        return self.last - self.first


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of codes.

    Attributes:
        codes: Code of each node, depth-first, siblings in the order given.
        values: What rows hold: the code of each leaf, in order; of a leaf for the rows of an
            inner code that code.
        shape: The positions.
    """

    codes: tuple[str, ...]
    values: tuple[str, ...]
    shape: Shape

    @classmethod
    def of(cls, tree: Mapping[str, str], *, own: bool = False) -> Hierarchy:
        """Return the tree of the parent of each code.

        Args:
            tree: Parents by code; codes that are a parent only have none.
            own: Whether every inner code has a leaf for its own rows.

        Raises:
            ParameterError: It is no tree of two leaves or more, or has too many codes.
        """
        below = _children(tree)
        roots = [code for code in below if code not in tree]
        if len(roots) > 1 and TOTAL in below:
            raise ParameterError(f"`tree` has several roots, one of them {TOTAL}")
        of_own = _with_own(below) if own else {}
        root = roots[0] if len(roots) == 1 else TOTAL
        below.setdefault(root, roots)
        codes, depths, children = _depth_first(below, root)
        if len(codes) != len(below):
            raise ParameterError("`tree` has a cycle: a code is its own ancestor")
        if len(codes) > MOST_CODES:
            raise ParameterError(f"`tree` must have at most {MOST_CODES:,} codes")
        sizes = np.ones(len(codes), dtype=np.int64)
        for node in range(len(codes) - 1, -1, -1):
            if children[node]:
                sizes[node] = sizes[list(children[node])].sum()
        is_leaf = np.array([not one for one in children])
        first = np.cumsum(is_leaf) - is_leaf
        if sizes[0] < LEAST_LEAVES:
            raise ParameterError(f"`tree` must have at least {LEAST_LEAVES} leaves")
        values = (of_own.get(codes[node], codes[node]) for node in np.flatnonzero(is_leaf))
        shape = Shape(children, np.array(depths), first, first + sizes)
        return cls(tuple(codes), tuple(values), shape)

    @cached_property
    def places(self) -> dict[str, int]:
        """The position of each code."""
        return {code: place for place, code in enumerate(self.codes)}

    @property
    def height(self) -> int:
        """Height of the root."""
        return int(self.shape.depths.max())


def _children(tree: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for code, parent in tree.items():
        if not all(isinstance(one, str) for one in (code, parent)):
            raise ParameterError("`tree` must give the parent of each code, both of them texts")
        found.setdefault(parent, []).append(code)
        found.setdefault(code, [])
    return found


def _with_own(below: dict[str, list[str]]) -> dict[str, str]:
    """Add a leaf below every inner code, and return the codes of these by their leaves."""
    inner = {code + OWN: code for code, found in below.items() if found}
    if inner.keys() & below.keys():
        raise ParameterError(f"`tree` has a code that is another one with {OWN!r} after it")
    for leaf, code in inner.items():
        below[code].append(leaf)
        below[leaf] = []
    return inner


def _depth_first(
    below: Mapping[str, Sequence[str]], root: str
) -> tuple[list[str], list[int], tuple[tuple[int, ...], ...]]:
    """Return the codes from the root on, their depths and the positions of their children."""
    codes: list[str] = []
    depths: list[int] = []
    children: list[list[int]] = []
    waiting = [(root, -1)]
    while waiting:
        code, parent = waiting.pop()
        place = len(codes)
        if parent >= 0:
            children[parent].append(place)
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
        codes.append(code)
        children.append([])
        waiting += [(one, place) for one in reversed(below[code])]
    return codes, depths, tuple(map(tuple, children))


def path_tree(paths: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the parent of each code, from paths of codes from coarse to fine.

    A code that follows itself on a path, as where a section has one code alone, is one code.

    Raises:
        ParameterError: A code has two parents.

    Examples:
        >>> from dpselect_applications.levels import path_tree
        >>> path_tree([("north", "Leeds"), ("north", "York"), ("south", "Bath")])
        {'Leeds': 'north', 'York': 'north', 'Bath': 'south'}
    """
    tree: dict[str, str] = {}
    for path in paths:
        for parent, code in pairwise(path):
            if code != parent and tree.setdefault(code, parent) != parent:
                raise ParameterError(
                    f"code {code!r} of `tree` has two parents, {tree[code]!r} and {parent!r}: "
                    "make codes different"
                )
    return tree


def prefix_tree(codes: Iterable[str], lengths: Sequence[int]) -> dict[str, str]:
    """Return the parent of each code: its first characters.

    Args:
        codes: The finest codes.
        lengths: Number of characters of the codes of each level, ascending; a code that is not
            longer is at that level itself.

    Raises:
        ParameterError: Lengths do not ascend from 1 on.

    Examples:
        >>> from dpselect_applications.levels import prefix_tree
        >>> prefix_tree(["I210", "I219", "J45"], [1, 3])
        {'I21': 'I', 'I210': 'I21', 'I219': 'I21', 'J45': 'J'}
    """
    ends = [validation.at_least("lengths", one, 1) for one in lengths]
    if not ends or ends != sorted(set(ends)):
        raise ParameterError("`lengths` must be ascending integers from 1 on")
    paths = ([code[:end] for end in ends if end < len(code)] + [code] for code in codes)
    return path_tree(paths)
