"""Three tasks on public data, beside what OpenDP would give at the same epsilon.

``python examples/demo.py demo.png`` prints them, and draws them if a picture is named.

All data are public or made up: a network by the recipe of ``_town``, tumours that ship with
scikit-learn, and 8,520 farmers' markets (USDA Agricultural Marketing Service, National Farmers
Market Directory, public domain; degrees rounded to 0.01). OpenDP is measured by the
distributions that its samplers draw from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

import dpselect as dp
from dpselect.typing import Values

OURS, OTHERS = "C0", "0.7"
PEOPLE, CONTACTS, TOP = 2000, 3, 10
RUNS = 300  # simulated releases of a task whose expected result has no formula
AREAS, DECILES = np.linspace(0, 5000, 501), range(10, 100, 10)
COUNTRY = (-125.5, 25.0, -65.5, 50.0)


@dataclass(frozen=True, slots=True)
class Task:
    """A release and its quality; ``results`` are by what gave them, ours first.

    ``chance`` is what a choice without the data would give, with its name.
    """

    title: str
    unit: str
    results: dict[str, float]
    chance: tuple[str, float]
    says: str
    draw: Callable[[Axes], object] = lambda _axes: None

    def bars(self, ax: Axes) -> None:
        """Draw the results as bars from 0, and a line for a choice without the data."""
        names, values = list(self.results)[::-1], list(self.results.values())[::-1]
        colours = [OTHERS] * (len(names) - 1) + [OURS]
        ax.bar_label(ax.barh(names, values, color=colours), fmt="%.3g", padding=3)
        farthest = 1.2 * max(values)
        name, value = self.chance
        beyond = "" if value < farthest else ", beyond the axis"
        ax.axvline(value, color="black", ls=":", label=f"{name}: {value:.3g}{beyond}")
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)
        ax.set(xlim=(0, farthest), xlabel=self.unit)
        ax.tick_params(axis="y", length=0)


def main(picture: str | None = None) -> None:
    """Do the tasks, about 10 seconds; nothing is written but the picture."""
    done = tasks()
    for number, task in enumerate(done, 1):
        print(f"{number}. {task.title}")
        for name, value in [*task.results.items(), task.chance]:
            print(f"   {name:26}{value:.4g}")
        print(f"   in {task.unit}")
        print(fill(task.says, 76, initial_indent="   ", subsequent_indent="   "), "\n")
    if picture is not None:
        save(done, picture)
    print("All data are public or made up. Next: dpselect --help")


def save(done: list[Task], path: str) -> None:
    """Draw the tasks: what was released, and bars of the results."""
    contacts, deciles, markets = done
    figure = Figure(figsize=(12, 9), layout="constrained")
    figure.suptitle("What one epsilon gives, with dpselect and with OpenDP", fontsize="x-large")
    draws: list[tuple[Callable[[Axes], object], str]] = [
        (contacts.bars, contacts.title),
        (deciles.draw, deciles.title),
        (markets.draw, ""),  # it has one of its own
        (markets.bars, markets.title),
    ]
    for ax, (draw, title) in zip(figure.subplots(2, 2).flat, draws, strict=True):
        draw(ax)
        if title:
            ax.set_title(title, fontsize="medium")
    figure.savefig(path, dpi=150)


def tasks() -> list[Task]:
    """Return all tasks, done."""
    return [_contacts(), _deciles(), _markets()]


def _contacts() -> Task:
    epsilon, rng = 0.5, np.random.default_rng(0)
    edges = [(int(a), int(b)) for a, b in _town(np.random.default_rng(1))]
    query = dp.TopNodes(nodes=PEOPLE, k=TOP, metric="degree", epsilon=epsilon)
    degrees = query.objective(edges)
    best = np.argsort(-degrees.scores, kind="stable")[:TOP]

    def recall(mechanism: dp.Mechanism) -> float:
        drawn = np.asarray(mechanism.simulate(degrees, TOP, size=RUNS, rng=rng))
        return float(np.isin(drawn, best).mean())

    return Task(
        title=f"Who of {PEOPLE:,} has most contacts? Ten, epsilon {epsilon:g} (edge)",
        unit="share of the true ten",
        results={
            "dpselect": recall(dp.NoisySequence(epsilon=epsilon)),
            "OpenDP, top-k": recall(dp.PermuteAndFlip(epsilon=epsilon)),
        },
        chance=("uniform choice", TOP / PEOPLE),
        says="One friendship changes two numbers of contacts by one. So noise for all of them "
        "costs as much as noise for two; a noisy top-k pays for each of ten draws. (A network "
        "made by preferential attachment, not a real one.)",
    )


def _town(rng: np.random.Generator) -> set[tuple[int, int]]:
    """Return the edges of preferential attachment: each new person gets to know three."""
    ends, edges = [0, 1], {(0, 1)}
    for person in range(2, PEOPLE):
        known: set[int] = set()
        while len(known) < min(CONTACTS, person):
            known.add(ends[rng.integers(len(ends))])
        for other in sorted(known):
            edges.add((other, person))
            ends += [other, person]
    return edges


def _deciles() -> Task:
    data, epsilon = load_breast_cancer(as_frame=False), 1.0
    areas = np.sort(data.data[:, list(data.feature_names).index("worst area")])
    truth = np.percentile(areas, DECILES)
    deciles = dp.Percentiles(
        p=DECILES, candidates=AREAS.tolist(), epsilon=epsilon, neighbours="add-remove"
    )
    releases = [np.array(deciles.release(areas).answer) for _ in range(20)]
    share = dp.PermuteAndFlip(epsilon=epsilon / len(DECILES))
    scored = [_opendp_quantile(areas, p / 100) for p in DECILES]
    laws = [share.probabilities(one) for one in scored]
    others = [law @ np.abs(AREAS - true) for law, true in zip(laws, truth, strict=True)]
    errors = np.mean([np.abs(one - truth) for one in releases], axis=0)

    def draw(ax: Axes) -> None:
        for label, error, colour in (
            ("OpenDP, epsilon / 9 each: error", others, "0.85"),
            ("dpselect: error", errors, "C0"),
        ):
            low, high = truth - error, truth + error
            ax.fill_between(DECILES, low, high, color=colour, alpha=0.6, lw=0, label=label)
        ax.plot(DECILES, truth, color="black", lw=1, label="truth")
        ax.plot(DECILES, releases[0], "o", color="C0", label="dpselect: one release")
        middle = float(AREAS.mean())
        ax.axhline(middle, color="black", ls=":", label=f"uniform choice: {middle:g}")
        ax.set(ylim=(0, 3600), xlabel="percentile", ylabel="area (square pixels)")
        ax.legend(loc="upper left", fontsize="small")

    return Task(
        title=f"Nine deciles of 569 areas, epsilon {epsilon:g} (add-remove)",
        unit="mean absolute error, square pixels",
        results={
            "dpselect": float(errors.mean()),
            "OpenDP, epsilon / 9 each": float(np.mean(others)),
        },
        chance=(
            "uniform choice",
            float(np.mean([np.abs(AREAS - true).mean() for true in truth])),
        ),
        says="Deciles are found from both ends in parts that share no record: each part has "
        "nearly all of epsilon, not a ninth of it. For a single percentile OpenDP's scores are "
        "nearly as good.",
        draw=draw,
    )


def _opendp_quantile(values: Values, fraction: float) -> Any:
    """Return OpenDP's score of a quantile for all candidates."""
    below = np.searchsorted(values, AREAS, side="left")
    above = values.size - np.searchsorted(values, AREAS, side="right")
    bound = dp.GlobalSensitivity(max(fraction, 1 - fraction), "add-remove")
    return dp.Objective(-np.abs((1 - fraction) * below - fraction * above), bound)


def _markets() -> Task:
    epsilon = 1.0
    stored = np.load(Path(__file__).with_name("farmers_markets.npz"))
    points = np.column_stack([stored["lon"], stored["lat"]]) / 100
    queries = _squares_around(points, np.random.default_rng(0))
    low, high = (points[:, None] >= queries[:, :2]), (points[:, None] < queries[:, 2:])
    exact = (low & high).all(axis=2).sum(axis=0)
    tuned = dp.Map(
        bounds=COUNTRY, crs="EPSG:4326", queries=queries.tolist(), epsilon=epsilon,
        neighbours="add-remove",
    )  # fmt: skip

    def three(query: dp.Map) -> list[Any]:
        return [query.release(points) for _ in range(3)]

    ours = three(tuned)

    def error(maps: list[Any]) -> float:
        return float(np.mean([np.abs(one.estimate(queries).values - exact) for one in maps]))

    def draw(ax: Axes) -> None:
        ours[0].plot(ax)
        ax.set_title(
            f"The map as released: {ours[0].candidate}, {ours[0].partition.cells:,} cells"
        )

    area = (queries[:, 2] - queries[:, 0]) * (queries[:, 3] - queries[:, 1])
    evenly = len(points) * area / (60.0 * 25.0)
    return Task(
        title=f"Farmers' markets of the US, epsilon {epsilon:g} (add-remove)",
        unit="mean absolute error, markets in a rectangle",
        results={
            "dpselect": error(ours),
            **{
                f"OpenDP, {cells} x {cells}": error(three(replace(tuned, grids=[cells])))
                for cells in (10, 32, 128)
            },
        },
        chance=("spread evenly", float(np.abs(evenly - exact).mean())),
        says="A coarse noisy grid is released first, and cells are made fine where it shows "
        "markets; no width of cells need be guessed.",
        draw=draw,
    )


def _squares_around(points: Values, rng: np.random.Generator) -> Values:
    """Return rectangles of 3, 10 and 30 % of a side around random points."""
    corner, size = np.array(COUNTRY[:2]), np.array([60.0, 25.0])
    rectangles = []
    for side in (0.03, 0.1, 0.3):
        around = (points[rng.integers(len(points), size=200)] - corner) / size
        low = np.clip(around - side * rng.random((200, 2)), 0, 1 - side)
        rectangles.append(np.hstack([corner + low * size, corner + (low + side) * size]))
    return np.concatenate(rectangles)


if __name__ == "__main__":
    main(*sys.argv[1:2])
