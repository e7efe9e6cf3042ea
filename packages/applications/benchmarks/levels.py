"""Tables of codes: the private choice of their detail against every fixed level.

Run: ``python benchmarks/levels.py``. Trees have the shape of classifications; rows are drawn of
made-up distributions. Below each node the children's shares are log-normal, with a deviation by
level, or the leaves are even or follow Zipf's law. The error of a table is the sum over all
leaves of the distance from the true count, where the count of a cell is shared evenly. That
of a level has all of epsilon. The others pay for their choice from the same epsilon:

- ``Levels``: the cuts as they are released, at the default share.
- ``one of the levels``: the exponential mechanism over fixed levels alone, with the same share.
- ``choices by node``: the same over all cuts, each node deciding by itself without a prior of
  levels.
- ``PrivTree``: nodes split by biased noisy counts, with 5 % of epsilon and with one half.
- ``all levels``: noise on every level, and least squares (Hay et al., VLDB 2010).

Cuts of ``Levels`` are drawn by the sampler of the library, of one data set each; the best cut
is found by the true counts. The results are written to ``benchmarks/results/levels.csv``, the
picture to ``docs/levels.png``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from math import exp, log
from pathlib import Path
from typing import TypeAlias

import numpy as np

import dpselect as dp
from dpselect.typing import Indices, Values
from dpselect_applications.levels.cut_exponential import Cuts, draw_cut
from dpselect_applications.levels.hierarchy import Shape
from dpselect_applications.levels.levels import LevelsDesign
from dpselect_applications.levels.unevenness import largest_step

RESULTS = Path(__file__).with_name("results") / "levels.csv"
PICTURE = Path(__file__).parents[1] / "docs" / "levels.png"
SIZES = (1_000, 5_000, 20_000, 100_000)
EPSILON = 1.0
DRAWS = 40
BASELINES = 20
COLUMNS = ("data", "leaves", "rows", "method", "error", "over the best level")
LEVELS = "Levels"

Rng: TypeAlias = np.random.Generator
Drawn: TypeAlias = Callable[[Rng], list[int]]
Fan: TypeAlias = int | tuple[int, int]

DISEASES: tuple[Fan, ...] = (20, (6, 16), (5, 13), (1, 7))
TRADES: tuple[Fan, ...] = (21, (1, 8), (1, 6), (1, 5))
PLACES: tuple[Fan, ...] = (8, 10, 20)
TREES: dict[str, tuple[tuple[Fan, ...], Sequence[float] | str]] = {
    "diseases": (DISEASES, (1.5, 1.5, 1.5, 1.5)),
    "trades": (TRADES, (2.0, 1.5, 1.0, 0.5)),
    "places": (PLACES, (2.0, 1.5, 0.5)),
    "places, Zipf": (PLACES, "zipf"),
    "places, even": (PLACES, "even"),
}
"""Children of a node by level, or their range, and the distribution of rows."""


def tree_of(fans: Sequence[Fan], rng: Rng) -> dict[str, str]:
    """Return the parent of each code of a random tree."""
    tree: dict[str, str] = {}
    codes = [""]
    for fan in fans:
        finer = []
        for code in codes:
            many = fan if isinstance(fan, int) else int(rng.integers(*fan))
            finer += [f"{code}.{one}" for one in range(many)]
        tree |= {one: one.rpartition(".")[0] for one in finer}
        codes = finer
    return tree


def leaf_counts(shape: Shape, spread: Sequence[float] | str, rows: int, rng: Rng) -> Indices:
    """Return the rows of each leaf."""
    many = int(shape.leaves[0])
    if spread == "even":
        shares = np.ones(many)
    elif spread == "zipf":
        shares = 1 / (1 + rng.permutation(many)) ** 1.2
    else:
        every = np.ones(len(shape.children))
        for node, below in enumerate(shape.children):
            if below:
                parts = np.exp(rng.normal(0, float(spread[shape.depths[node]]), len(below)))
                every[list(below)] = every[node] * parts / parts.sum()
        shares = every[[node for node, below in enumerate(shape.children) if not below]]
    return rng.multinomial(rows, shares / shares.sum())


def error(shape: Shape, counts: Indices, cells: list[int], epsilon: float, rng: Rng) -> float:
    """Return the error of noisy cells."""
    first, last = shape.first[cells], shape.last[cells]
    sums = np.append(0, np.cumsum(counts))
    noisy = sums[last] - sums[first] + laplace(rng, epsilon, len(cells))
    return float(np.abs(np.repeat(noisy / (last - first), last - first) - counts).sum())


def laplace(rng: Rng, epsilon: float, size: int) -> Indices:
    """Return simulated discrete Laplace noise on counts that one row moves by 1."""
    each = -np.expm1(-epsilon)
    return rng.geometric(each, size) - rng.geometric(each, size)


def fixed(cells: list[int], _rng: Rng) -> list[int]:
    """Return cells that are not drawn."""
    return cells


def best_cut(cuts: Cuts) -> list[int]:
    """Return the cut of the least cost."""
    least: list[tuple[int, list[int]]] = [(0, [])] * len(cuts.children)
    for node in cuts.upwards:
        least[node] = (int(cuts.costs[node]), [node])
        if cuts.children[node]:
            below = [least[child] for child in cuts.children[node]]
            cost = sum(one for one, _ in below)
            if cost <= least[node][0]:
                least[node] = (cost, [cell for _, cells in below for cell in cells])
    return least[0][1]


def one_level(cuts: Cuts, decay: float, height: int, rng: Rng) -> list[int]:
    """Return a level that is drawn by the exponential mechanism."""
    levels = [cuts.level(0, depth) for depth in range(height + 1)]
    logs = np.array([-decay * float(cuts.costs[one].sum()) for one in levels])
    weights = np.exp(logs - logs.max())
    return levels[rng.choice(len(levels), p=weights / weights.sum())]


def by_node(cuts: Cuts, decay: float, rng: Rng) -> list[int]:
    """Return a cut that is drawn with an even prior of each node and its children."""
    whole = np.zeros(len(cuts.children))
    stays = np.ones(len(cuts.children))
    for node in cuts.upwards:
        here = -decay * float(cuts.costs[node])
        whole[node] = here
        if cuts.children[node]:
            both = here, float(whole[list(cuts.children[node])].sum())
            whole[node] = np.logaddexp(*both) - log(2)
            stays[node] = exp(both[0] - np.logaddexp(*both))
    return top_down(cuts.children, lambda node: bool(rng.random() < stays[node]))


def privtree(shape: Shape, sums: Values, epsilon: float, rng: Rng) -> list[int]:
    """Return a cut by PrivTree for the mean fanout, with threshold 0."""
    fan = float(np.mean([len(below) for below in shape.children if below]))
    scale = (2 * fan - 1) / (fan - 1) / epsilon
    decay = scale * log(fan)
    biased = np.maximum(sums - shape.depths * decay, -decay)
    split = biased + rng.laplace(0, scale, sums.size) > 0
    return top_down(shape.children, lambda node: not split[node])


def top_down(children: Sequence[Sequence[int]], stays: Callable[[int], bool]) -> list[int]:
    """Return the cut of nodes that stay whole."""
    cells, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if not children[node] or stays(node):
            cells.append(node)
        else:
            waiting += children[node]
    return sorted(cells)


def consistent(shape: Shape, sums: Values, rng: Rng) -> Values:
    """Return least squares estimates of all leaves, of noise on every level."""
    epsilon = EPSILON / (int(shape.depths.max()) + 1)
    size = len(shape.children)
    noisy = sums + laplace(rng, epsilon, size)
    found, variances = noisy.astype(float), np.ones(size)
    for node in range(size - 1, -1, -1):
        below = list(shape.children[node])
        if below:
            of_sum = variances[below].sum()
            found[node] = (of_sum * noisy[node] + found[below].sum()) / (of_sum + 1)
            variances[node] = of_sum / (of_sum + 1)
    for node, children in enumerate(shape.children):
        below = list(children)
        if below:
            rest = found[node] - found[below].sum()
            found[below] += rest * variances[below] / variances[below].sum()
    return found[[node for node, below in enumerate(shape.children) if not below]]


def methods(design: LevelsDesign, counts: Indices) -> Iterator[tuple[str, float, int, Drawn]]:
    """Return every method with the epsilon of its counts, how often it is drawn and how."""
    shape, cuts = design.hierarchy.shape, design.cuts(counts)
    running = np.append(0, np.cumsum(counts))
    sums = running[shape.last] - running[shape.first]
    height, (of_cells, of_counts) = design.hierarchy.height, design.plan.spends
    decay, rest = float(design.decay), of_counts.epsilon
    # Levels alone: of the leaves nothing changes, and of a node by at most 4.
    levels = of_cells.epsilon / largest_step(shape)
    for depth in range(height + 1):
        cells = cuts.level(0, depth)
        yield f"level {depth}", EPSILON, BASELINES, partial(fixed, cells)
    best = best_cut(cuts)
    yield "best cut, not private", EPSILON, BASELINES, partial(fixed, best)
    yield LEVELS, rest, DRAWS, lambda _: draw_cut(cuts, design.decay)
    yield "one of the levels", rest, DRAWS, lambda rng: one_level(cuts, levels, height, rng)
    yield "choices by node", rest, BASELINES, lambda rng: by_node(cuts, decay, rng)
    for share in (0.05, 0.5):
        yield (
            f"PrivTree, share {share:g}",
            EPSILON * (1 - share),
            BASELINES,
            partial(privtree, shape, sums, EPSILON * share),
        )


def measured(name: str, rows: int, seed: int) -> Iterator[tuple[object, ...]]:
    """Return the mean errors of all methods on one data set."""
    rng = np.random.default_rng([seed, rows])
    fans, spread = TREES[name]
    tree = tree_of(fans, np.random.default_rng(seed))
    query = dp.Levels(tree=tree, epsilon=EPSILON, neighbours="add-remove")
    design = query.design()
    shape, leaves = design.hierarchy.shape, len(design.hierarchy.values)
    counts = leaf_counts(shape, spread, rows, rng)
    found: dict[str, float] = {}
    for method, epsilon, times, drawn in methods(design, counts):
        errors = [error(shape, counts, drawn(rng), epsilon, rng) for _ in range(times)]
        found[method] = float(np.mean(errors))
    running = np.append(0, np.cumsum(counts))
    sums = running[shape.last] - running[shape.first]
    every = [np.abs(consistent(shape, sums, rng) - counts).sum() for _ in range(5)]
    found["all levels, least squares"] = float(np.mean(every))
    best = min(value for method, value in found.items() if method.startswith("level "))
    print(name, rows, {one: round(value / best, 3) for one, value in found.items()}, flush=True)
    print("  at most", round(query.excess()), "above", round(best), flush=True)
    for method, value in found.items():
        yield name, leaves, rows, method, f"{value:.0f}", f"{value / best:.3f}"


def plot(rows: list[dict[str, object]]) -> None:
    """Draw the errors over that of the best level."""
    from matplotlib.figure import Figure

    shown = {
        LEVELS: ("Levels", "o-"),
        "one of the levels": ("one of the levels, privately", "s--"),
        "choices by node": ("each node decides for itself", "v:"),
        "PrivTree, share 0.5": ("PrivTree, half of epsilon", "^:"),
        "best cut, not private": ("best cut, not private", "k-"),
    }
    figure = Figure(figsize=(5.6, 6.6), layout="constrained")
    *panels, legend = figure.subplots(3, 2, sharex=True, sharey=True).flat
    for axes, name in zip(panels, TREES, strict=True):
        axes.axhspan(1, 1.1, color="0.9")
        for method, (label, style) in shown.items():
            found = [
                (row["rows"], float(str(row["over the best level"])))
                for row in rows
                if (row["data"], row["method"]) == (name, method)
            ]
            axes.plot(*zip(*found, strict=True), style, markersize=4, label=label)
        leaves = next(row["leaves"] for row in rows if row["data"] == name)
        axes.set(xscale="log", yscale="log", title=f"{name}, {leaves:,}")
        axes.set_yticks([0.3, 0.5, 1, 2, 4, 8], ["0.3", "0.5", "1", "2", "4", "8"], minor=False)
        axes.minorticks_off()
    panels[3].tick_params(labelbottom=True)
    legend.set_axis_off()
    legend.legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.supylabel("error over that of the best level")
    figure.supxlabel("rows")
    figure.savefig(PICTURE, dpi=100)


def main() -> None:
    """Measure all methods and write what was found."""
    rows: list[dict[str, object]] = []
    for seed, (name, size) in enumerate(product(TREES, SIZES)):
        of_tree = seed // len(SIZES)
        rows += [dict(zip(COLUMNS, one, strict=True)) for one in measured(name, size, of_tree)]
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    plot(rows)


if __name__ == "__main__":
    main()
