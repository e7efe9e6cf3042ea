"""The least mean loss of any private mechanism on a small universe, by linear programmes."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from math import exp

import networkx as nx
import numpy as np
from scipy import optimize, sparse

import dpselect as dp

ONE_MORE = dp.GlobalSensitivity(1, dp.Neighbours.ADD_REMOVE)


def least_mean(losses, steps, epsilon, fixed=()):
    """The least mean loss of any epsilon-DP mechanism, and its law.

    Args:
        losses: Of each candidate on each database, shape ``(databases, candidates)``.
        steps: Pairs of neighbours, each in both orders.
        epsilon: In nats.
        fixed: (database, probability of each candidate) that the law must have.
    """
    many, n = losses.shape
    place = np.arange(many * n).reshape(many, n)
    first, second = (place[[pair[side] for pair in steps]].ravel() for side in (0, 1))
    rows = np.arange(first.size)
    private = sparse.coo_array(
        (
            np.r_[np.ones(rows.size), np.full(rows.size, -exp(epsilon))],
            (np.r_[rows, rows], np.r_[first, second]),
        ),
        shape=(rows.size, place.size),
    )
    laws = sparse.coo_array(
        (np.ones(place.size), (np.repeat(np.arange(many), n), np.arange(place.size)))
    )
    bounds = np.full((place.size, 2), (0.0, 1.0))
    for database, law in fixed:
        bounds[place[database]] = np.transpose([law, law])
    found = optimize.linprog(
        losses.ravel() / many,
        A_ub=private.tocsr(),
        b_ub=np.zeros(rows.size),
        A_eq=laws.tocsr(),
        b_eq=np.ones(many),
        bounds=bounds,
    )
    assert found.status == 0
    return found.fun, found.x.reshape(many, n)


def one_apart(databases, *, replaced=False):
    """Return all steps, in both orders: one entry replaced by any other, or moved by 1."""
    table = np.array(databases)
    gaps = np.abs(table[:, None] - table[None])
    far = np.count_nonzero(gaps, axis=2) if replaced else gaps.sum(axis=2)
    return [*zip(*(place.tolist() for place in np.nonzero(far == 1)), strict=True)]


@dataclass(frozen=True)
class Universe:
    """Databases that are listed, and what is chosen on each.

    Attributes:
        databases: Tuples of integers.
        objective: Of one database.
        anchor: A number that no score exceeds.
        replaced: Whether one entry replaced by any other is a step, or one entry by 1.
    """

    databases: list[tuple[int, ...]]
    objective: Callable[[tuple[int, ...]], dp.Objective]
    anchor: float
    replaced: bool = False

    @property
    def steps(self) -> list[tuple[int, int]]:
        """Pairs of neighbours, each in both orders."""
        return one_apart(self.databases, replaced=self.replaced)

    def losses(self) -> np.ndarray:
        """Return the shortfalls of each candidate on each database."""
        scores = np.array([self.objective(x).scores for x in self.databases])
        return scores.max(axis=1, keepdims=True) - scores

    def steps_to_best(self) -> np.ndarray:
        """Return the steps from each database to one where a candidate is a best one."""
        losses, steps = self.losses(), np.array(self.steps)
        found = np.where(losses <= 1e-12, 0.0, np.inf)
        for _ in self.databases:
            np.minimum.at(found, steps[:, 0], found[steps[:, 1]] + 1)
        return found

    def mean_loss(self, mechanism: dp.mechanisms.Mechanism) -> float:
        """Return the mean shortfall of a mechanism over all databases."""
        laws = [mechanism.probabilities(self.objective(x)) for x in self.databases]
        return float((np.array(laws) * self.losses()).sum(axis=1).mean())


def counts(x: tuple[int, ...]) -> dp.Objective:
    return dp.Objective(list(x), ONE_MORE, monotone=True)


def median(x: tuple[int, ...], upper: float) -> dp.Objective:
    return dp.percentiles.percentile(list(x), p=50, upper=upper)


def graph_of(bits: tuple[int, ...]) -> nx.Graph:
    graph = nx.empty_graph(4)
    graph.add_edges_from(
        pair for pair, there in zip(combinations(range(4), 2), bits, strict=True) if there
    )
    return graph


GRAPHS = list(product((0, 1), repeat=6))
UNIVERSES = {
    "three counts of 0 to 3": Universe(list(product(range(4), repeat=3)), counts, 3.0),
    "four counts of 0 to 2": Universe(list(product(range(3), repeat=4)), counts, 2.0),
    "median record of three, values 0 to 4": Universe(
        list(product(range(5), repeat=3)), lambda x: median(x, 4.0), 0.0, replaced=True
    ),
    "median record of four, values 0 to 3": Universe(
        list(product(range(4), repeat=4)), lambda x: median(x, 3.0), 0.0, replaced=True
    ),
    "ego density, graphs of four nodes": Universe(
        GRAPHS, lambda x: dp.networks.ego_density(graph_of(x)), 1.0
    ),
    "ego betweenness, the same graphs, degree up to 3": Universe(
        GRAPHS, lambda x: dp.networks.ego_betweenness(graph_of(x), max_degree=3), 3.0
    ),
}


def least_and_found(universe: Universe, epsilon: float) -> dict[str, float]:
    """Return the least mean shortfall of any mechanism, and that of each that is compared."""
    flip = dp.draws.PermuteAndFlip()
    least, _ = least_mean(universe.losses(), universe.steps, epsilon)
    mechanisms = {
        "exponential": dp.ExponentialMechanism(epsilon=epsilon),
        "permute-and-flip": dp.PermuteAndFlip(epsilon=epsilon),
        "shifted": dp.ShiftedLocalDampening(
            epsilon=epsilon, draw=flip, direction="non-decreasing"
        ),
        "anchored": dp.AnchoredLocalDampening(
            epsilon=epsilon, draw=flip, anchor=universe.anchor
        ),
        "pairwise": dp.PairwiseLocalDampening(epsilon=epsilon, draw=flip),
    }
    found = {name: universe.mean_loss(one) for name, one in mechanisms.items()}
    inverse = np.array([flip.probabilities(-one, epsilon) for one in universe.steps_to_best()])
    by_steps = float((inverse * universe.losses()).sum(axis=1).mean())
    return {"least": least, **found, "inverse sensitivity": by_steps}
