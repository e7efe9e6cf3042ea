"""Released trees: structure, class probabilities, text, JSON and pictures.

Everything here is public: a tree holds columns and domains that were declared, splits that
were drawn, and counts that carry noise.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count, groupby
from math import log
from typing import Any, Self, TypeAlias

import numpy as np

from dpselect import writing
from dpselect._optional import Axes, new_axes
from dpselect.errors import DataError
from dpselect.release import Release
from dpselect.trees.domains import OUTSIDE, Bins, Schema, as_domain
from dpselect.typing import Indices, Values

MOST_LINES = 40
"""Lines of a tree that ``Tree.summary`` has."""

WIDTH, HEIGHT = 11.0, 8.0
"""Inches of a picture, at most: a page on its side."""

MOST_LEAVES = 36
"""Leaves that are drawn; of a larger tree, the splits of the last levels are left out."""

LETTERS = 30
"""Letters of a label in a picture."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf with released class counts.

    Attributes:
        counts: Released weight of each class; may be negative, as noise is.
    """

    counts: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A split on one column.

    Attributes:
        column: Position in the schema.
        branch_of: For every code of the column, the position of its branch; ``UNREACHED`` in
            simplified trees where the answers above leave the code out.
        branches: The nodes below; or, where records are counted, what ``Target`` says.
    """

    column: int
    branch_of: tuple[int, ...]
    branches: tuple[Any, ...]


Node: TypeAlias = Leaf | Split

UNREACHED = -1
"""In place of a branch."""

SMALLEST = 1e-300
"""Count that carries the class of a leaf without a positive one, or without counts. It rounds
away in a sum."""

TOO_SMALL = 1e-9
"""Counts that are shown as 0."""


@dataclass(frozen=True, repr=False)
class Tree(writing.Card):
    """A tree over public columns.

    Attributes:
        schema: Columns, domains and classes.
        root: The first node.
    """

    schema: Schema
    root: Node

    def __repr__(self) -> str:
        return f"<Tree of depth {self.depth}, {self.leaves} leaves>"

    def __str__(self) -> str:
        return "\n".join(self.summary())

    @property
    def depth(self) -> int:
        """The largest number of splits on a path."""
        return max(depth for depth, _, _ in self.walk())

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return sum(isinstance(node, Leaf) for _, _, node in self.walk())

    def walk(self) -> Iterator[tuple[int, str, Node]]:
        """Yield depth, the answer that leads there (``""`` for the root) and each node."""
        waiting: list[tuple[int, str, Node]] = [(0, "", self.root)]
        while waiting:
            depth, answer, node = waiting.pop()
            yield depth, answer, node
            if isinstance(node, Split):
                waiting += [
                    (depth + 1, self.answer(node, k), node.branches[k])
                    for k in reversed(range(len(node.branches)))
                ]

    def answer(self, node: Split, branch: int) -> str:
        """Return what leads from a node to one of its branches, as text."""
        domain, name = self.schema.domains[node.column], self.schema.names[node.column]
        codes = [code for code, b in enumerate(node.branch_of) if b == branch]
        if len(codes) == 1:
            label = domain.labels[codes[0]]
            return f"{name} {'in' if domain.ordered and label[0] == '[' else '='} {label}"
        if isinstance(domain, Bins):
            return f"{name} in {' or '.join(domain.interval(*run) for run in _runs(codes))}"
        if len(codes) > 1 + domain.size // 2 and len(node.branches) == 2:
            others = [c for c, b in enumerate(node.branch_of) if b not in {branch, UNREACHED}]
            return f"{name} not in {{{', '.join(domain.labels[c] for c in others)}}}"
        return f"{name} in {{{', '.join(domain.labels[c] for c in codes)}}}"

    def probabilities(self, codes: Indices) -> Values:
        """Return the probability of each class for each record, shape ``(n, classes)``.

        A record whose answer is ``OUTSIDE`` stops there and gets what is below together. A
        leaf without a positive count says what the node above it does.

        Args:
            codes: Shape ``(n, columns)``.
        """
        classes = len(self.schema.classes)
        out = np.empty((len(codes), classes))
        waiting = [(self.root, np.arange(len(codes)), np.full(classes, 1 / classes))]
        while waiting:
            node, rows, above = waiting.pop()
            here = shares(node, above)
            if isinstance(node, Leaf):
                out[rows] = here
                continue
            answers = codes[rows, node.column]
            out[rows[answers == OUTSIDE]] = here
            branch = np.where(answers == OUTSIDE, OUTSIDE, np.array(node.branch_of)[answers])
            waiting += [
                (below, rows[branch == k], here) for k, below in enumerate(node.branches)
            ]
        return out

    def simplified(self) -> Tree:
        """Return a tree with fewer leaves that predicts the same class for declared values.

        Branches that no value can reach, because of the answers above them, are dropped;
        siblings that are leaves with the same class are merged, with the sum of their counts,
        or 0 if that is negative. Post-processing: nothing but the released tree is looked at.
        """
        even = np.full(len(self.schema.classes), 1 / len(self.schema.classes))
        possible = [frozenset(range(size)) for size in self.schema.sizes.tolist()]
        return Tree(self.schema, _without_negatives(_shorter(self.root, even, possible)))

    def to_text(self) -> str:
        """Return the tree as indented text, one line for each leaf or answer.

        Its branches are those of the tree itself; ``simplified`` has fewer.
        """
        lines = []
        for depth, answer, node in self.walk():
            says = f": {self.says(node)}" if isinstance(node, Leaf) else ""
            if depth or says:
                lines.append("|   " * max(depth - 1, 0) + (answer + says).removeprefix(": "))
        return "\n".join(lines)

    def summary(self) -> list[str]:
        """Return the lines of the simplified tree; of a large one the first."""
        short = self.simplified()
        lines = short.to_text().splitlines()
        left = len(lines) - MOST_LINES
        lines_left = "1 more line" if left == 1 else f"{left} more lines"
        more = [f"... and {lines_left}: to_text(), or --save, has all"] if left > 0 else []
        leaves = (node for _, _, node in short.walk() if isinstance(node, Leaf))
        has_counts = any(max(leaf.counts) >= TOO_SMALL for leaf in leaves)
        if has_counts and short.leaves < self.leaves:
            more.append(f"(leaves of a class are added up: the tree has {self.leaves})")
        return [*lines[:MOST_LINES], *more]

    def plot(self, ax: Axes | None = None, *, title: str = "") -> Axes:
        """Draw the tree, the root on the left; a leaf has its class, its colour and its counts.

        Branches that no value can reach and siblings with the same class are left out, and of a
        large tree its last levels.

        Args:
            ax: Axes to draw into; a new figure if not given.
            title: Above the tree, such as what it cost.
        """
        short = self.simplified()
        levels = max(short.depth, 1)
        while levels > 1 and short.ends(levels) > MOST_LEAVES:
            levels -= 1
        leaves = short.ends(levels)
        if ax is None:
            ax = new_axes((min(WIDTH, 3.0 * (levels + 1)), min(HEIGHT, 0.42 * leaves + 1.0)))
        ax.set_axis_off()
        ax.set(xlim=(-0.4, levels + 0.4), ylim=(0.2 - leaves, 0.8))
        if levels < short.depth:
            left_out = f"{levels} of {short.depth} levels, {short.leaves} leaves in all"
            title += f"\nthe first {left_out}"
        ax.set_title(title.strip(), fontsize=10, parse_math=False)
        _draw(short, levels, ax, 7.5 if leaves <= 24 else 6)
        return ax

    def ends(self, levels: int) -> int:
        """Return how many leaves there are if the tree is cut below some levels."""
        return sum(
            depth == levels or (depth < levels and isinstance(node, Leaf))
            for depth, _, node in self.walk()
        )

    def says(self, node: Node) -> str:
        """Return the class of the most records at a node, and how many there are of each."""
        classes = self.schema.classes
        released = node.counts if isinstance(node, Leaf) else weight(node).tolist()
        counts = ", ".join(
            f"{c} {count_text(n)}" for c, n in zip(classes, released, strict=True)
        )
        most = int(np.argmax(released))
        answer = str(classes[most]) if released[most] > 0 else "as above"
        without = 0 < released[most] < TOO_SMALL
        return answer if without else f"{answer}  ({counts})"

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain Python values."""
        pairs = zip(self.schema.names, self.schema.domains, strict=True)
        return {
            "classes": list(self.schema.classes),
            "domains": {name: domain.to_dict() for name, domain in pairs},
            "root": asdict(self.root),
        }

    def to_json(self) -> str:
        """Return the tree as one JSON object."""
        return json.dumps(self.to_dict(), default=str)

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """Return the tree that ``to_json`` wrote.

        Raises:
            DataError: It is not such a text.
        """
        try:
            given = json.loads(text)
            domains = {name: as_domain(name, d) for name, d in given["domains"].items()}
            classes: tuple[Hashable, ...] = tuple(given["classes"])
            schema = Schema(tuple(domains), tuple(domains.values()), classes)
            return cls(schema, _node_from_dict(given["root"]))
        except (KeyError, TypeError, ValueError, AttributeError):
            raise DataError("the text is not a tree that to_json wrote") from None


@dataclass(frozen=True, repr=False)
class TreeRelease(Release[Tree]):
    """A release of one tree."""

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self.candidate

    @property
    def _beside_noise(self) -> tuple[Sequence[float], float] | None:
        """The largest count of the leaves, and what the noise of all is at most."""
        leaves = [node.counts for _, _, node in self.tree.walk() if isinstance(node, Leaf)]
        error = self.plan.error
        if error is None:
            return None
        # Of one count P(|Z| > value) is at most 1 - probability, and falls exponentially.
        many = log(len(leaves) * len(leaves[0])) / log(1 / (1 - error.probability))
        return [max(map(max, leaves))], error.value * (1 + many)

    def _made_of(self) -> dict[str, Any] | None:
        text = self.tree.to_json()
        with suppress(DataError):  # of values that JSON does not hold
            if Tree.from_json(text) == self.tree:
                return {"tree": text, "exact": self.exact, "refunded": self.refunded}
        return None

    @classmethod
    def remade(cls, kept: Mapping[str, Any], **more: Any) -> Self:  # noqa: ANN401
        """Return a release of the tree that a ledger keeps."""
        tree = Tree.from_json(kept["tree"])
        return cls((tree,), exact=kept["exact"], refunded=kept["refunded"], **more)

    def released(self) -> dict[str, Any]:
        """Return the tree as text."""
        return {"tree": self.tree.to_text()}

    def to_dict(self) -> dict[str, Any]:
        """Return the release as plain Python values, the tree by ``Tree.to_dict``."""
        return {**super().to_dict(), "tree": self.tree.to_dict()}

    def table(self) -> dict[str, list[Any]]:
        """Return the lines of the tree as short as it can be said."""
        return {"tree": self.tree.summary()}

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree on at most one page, with its price as the title.

        Args:
            ax: Axes to draw into; a new figure if not given.
        """
        price = f"ε = {self.epsilon:g} ({self.neighbours} neighbours)"
        return self.tree.plot(ax, title=f"{self.plan.name}, {price}; class (noisy counts)")


def _runs(codes: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each run of ascending codes without a gap."""
    for _, run in groupby(enumerate(codes), key=lambda at: at[1] - at[0]):
        adjacent = [code for _, code in run]
        yield adjacent[0], adjacent[-1]


def weight(node: Node) -> Values:
    """Return the released weight of each class at a node, negative counts as 0."""
    if isinstance(node, Leaf):
        return np.maximum(np.array(node.counts, dtype=np.float64), 0)
    return np.sum([weight(below) for below in node.branches], axis=0)


def shares(node: Node, above: Values) -> Values:
    """Return the probability of each class at a node, that above it without a positive one."""
    weights = weight(node)
    total = weights.sum()
    return weights / total if total > 0 else above


def _shorter(node: Node, above: Values, possible: Sequence[frozenset[int]]) -> Node:
    here = shares(node, above)
    if isinstance(node, Leaf):
        if max(node.counts) > 0:
            return node
        # Without a positive count, a tiny one of the class above it.
        answer = int(here.argmax())
        return Leaf(tuple(SMALLEST if k == answer else n for k, n in enumerate(node.counts)))
    codes, below = list[frozenset[int]](), list[Node]()
    places: dict[int, int] = {}
    for branch, under in enumerate(node.branches):
        reached = frozenset(c for c in possible[node.column] if node.branch_of[c] == branch)
        if not reached:
            continue
        left = [*possible]
        left[node.column] = reached
        short = _shorter(under, here, left)
        place = len(below)
        if isinstance(short, Leaf):
            # Leaves of one class are one, where the first of them was.
            place = places.setdefault(int(np.argmax(short.counts)), place)
        if place == len(below):
            codes.append(reached)
            below.append(short)
        else:
            # Without negative counts the sum of noisy ones would be too large in the mean.
            both = np.add(below[place].counts, short.counts)  # type: ignore[union-attr] # leaves
            codes[place] |= reached
            below[place] = Leaf(tuple(both.tolist()))
    if len(below) == 1:
        return below[0]
    place_of = {code: place for place, some in enumerate(codes) for code in some}
    branch_of = tuple(place_of.get(code, UNREACHED) for code in range(len(node.branch_of)))
    return Split(node.column, branch_of, tuple(below))


def _without_negatives(node: Node) -> Node:
    """Return a node with 0 in place of each negative count of a leaf."""
    if isinstance(node, Leaf):
        return Leaf(tuple(weight(node).tolist()))
    return Split(node.column, node.branch_of, tuple(map(_without_negatives, node.branches)))


def count_text(count: float) -> str:
    """Return a released count for a reader, as the integer that it is near."""
    if abs(count) < TOO_SMALL:
        return "0"
    return f"{count:,.0f}" if abs(count) >= 10 or float(count).is_integer() else f"{count:.2g}"


def _node_from_dict(given: dict[str, Any]) -> Node:
    if "counts" in given:
        return Leaf(tuple(float(count) for count in given["counts"]))
    return Split(
        int(given["column"]),
        tuple(int(b) for b in given["branch_of"]),
        tuple(_node_from_dict(below) for below in given["branches"]),
    )


def _draw(tree: Tree, levels: int, ax: Axes, size: float) -> None:
    """Draw the first levels of a tree, a leaf in each row.

    Args:
        tree: The tree.
        levels: Splits that are drawn on a path.
        ax: The axes.
        size: Size of letters, in points.
    """
    rows = count()

    def write(depth: int, height: float, text: str, colour: str) -> None:
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
        look = {"ha": "center", "va": "center", "fontsize": size, "bbox": box}
        # A dollar sign of a value begins no formula.
        ax.text(depth, height, text.strip(), **look, parse_math=False)  # type: ignore[arg-type]

    def drawn(node: Node, answer: str, depth: int) -> float:
        """Draw a node and all below it; return its height."""
        if isinstance(node, Leaf) or depth == levels:
            height = -float(next(rows))
            colour = f"C{int(weight(node).argmax())}"
            more = "" if isinstance(node, Leaf) else " …"
            write(depth, height, f"{_cut(answer)}\n{tree.says(node)}{more}", colour)
            return height
        heights = [
            drawn(below, tree.answer(node, k), depth + 1)
            for k, below in enumerate(node.branches)
        ]
        height = float(np.mean(heights))
        for below in heights:
            ax.plot([depth, depth + 1], [height, below], color="0.8", zorder=0)
        write(depth, height, _cut(answer or tree.schema.names[node.column]), "0.6")
        return height

    drawn(tree.root, "", 0)


def _cut(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
