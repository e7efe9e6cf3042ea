"""Releases of :mod:`dpselect.trees`, by queries and by estimators."""

import numpy as np
import polars as pl
from sklearn.base import clone

import dpselect as dp
from dpselect.mechanisms import MECHANISMS
from dpselect.neighbours import Neighbours
from dpselect.trees import Bins, ID3Classifier, MultiObjectiveTreeClassifier
from dpselect_conformance import ReleaseCase

PUBLIC = {
    "domains": {"sky": ["sun", "rain"], "wind": Bins(0, 3, bins=3)},
    "classes": ["dry", "wet"],
    "max_records": 100,
}
SELECTIONS = [
    {"selection": selection, "rate_bound": rate_bound}
    for selection, rate_bound in (
        *(("weighted-sum", "noisy-denominators"), ("weighted-sum", "local")),
        *(("pareto", "global"), ("margin", "global")),
    )
]


def pair_of(relation):
    def pair(rng):
        rows = [
            (
                *(str(rng.choice(["sun", "rain"])), int(rng.integers(3))),
                str(rng.choice(["dry", "wet"])),
            )
            for _ in range(20)
        ]
        other = ("rain", 2, "wet") if rows[0] != ("rain", 2, "wet") else ("sun", 0, "dry")
        changed = rows[1:] if relation is Neighbours.ADD_REMOVE else [other, *rows[1:]]
        columns = ["sky", "wind", "weather"]
        return tuple(pl.DataFrame(one, schema=columns, orient="row") for one in (rows, changed))

    return pair


def pair_of_persons(relation):
    def pair(rng):
        sizes = rng.integers(1, 5, 8)
        kinds = rng.choice(["sun", "rain"], 40), rng.integers(0, 3, 40)
        who = np.repeat(np.arange(8), sizes)
        labels = rng.choice(["dry", "wet"], who.size)
        columns = {"sky": kinds[0][: who.size], "wind": kinds[1][: who.size]}
        rows = pl.DataFrame({**columns, "weather": labels, "who": who})
        others = rows.filter(pl.col("who") > 0)
        if relation is Neighbours.ADD_REMOVE:
            return rows, others
        other = {"sky": ["sun", "rain", "sun"], "wind": [2, 2, 0], "weather": ["wet"] * 3}
        person = pl.DataFrame({**other, "who": [0] * 3})
        return rows, pl.concat([person, others])

    return pair


def pair_in_memory(frame):
    return frame.drop("weather"), frame["weather"]


def case(kind, relation, name, *, lazy=False, **arguments):
    """One query, of a pair of a table and labels, or of a lazy frame."""
    label = "weather" if lazy else None
    query = kind(**PUBLIC, **arguments, label=label, epsilon=1.0, neighbours=relation)
    return ReleaseCase(
        name=f"{kind.__name__}, {relation}, {name}",
        query=query,
        data=pl.DataFrame.lazy if lazy else pair_in_memory,
        pair=(pair_of_persons if "user" in arguments else pair_of)(relation),
    )


def fitted(kind, relation, **arguments):
    """The same by an estimator."""
    made = kind(1.0, **PUBLIC, **arguments, neighbours=relation)

    def run(data, budget):
        return clone(made).set_params(budget=budget).fit(*pair_in_memory(data))

    return ReleaseCase(
        name=f"{kind.__name__}, {relation}", query=made.query(), run=run, pair=pair_of(relation)
    )


FRONT = {"population": 6, "survivors": 2, "front": 2, "generations": 2, "initial_depth": 1}
FRONT |= {"max_depth": 2, "random_state": 1}
PUBLISHED = {"selection": "pareto", "dominance": "weak", "operators": "published"}
DIFF_PID3 = {"criterion": "information-gain", "splits": "values"}
RELATIONS = [Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE]
PERSONS = {"user": "who", "max_per_user": 2}
CASES = [
    *(
        case(dp.ID3Tree, relation, name, max_depth=2, mechanism=name, **DIFF_PID3)
        for relation in RELATIONS
        for name in MECHANISMS
    ),
    case(dp.ID3Tree, RELATIONS[0], "in an engine", lazy=True, max_depth=2),
    case(dp.ID3Tree, RELATIONS[0], "persons", max_depth=1, **PERSONS),
    case(dp.ID3Tree, RELATIONS[0], "persons in an engine", lazy=True, max_depth=1, **PERSONS),
    case(dp.ID3Tree, RELATIONS[1], "persons", max_depth=1, **PERSONS),
    *(
        case(dp.TreeFront, relation, ", ".join(one.values()), **one, **FRONT)
        for relation in RELATIONS
        for one in SELECTIONS
    ),
    case(dp.TreeFront, RELATIONS[0], "as published", rate_bound="local", **PUBLISHED, **FRONT),
    case(dp.TreeFront, RELATIONS[1], "pairwise", mechanism="pairwise", **FRONT),
    fitted(ID3Classifier, RELATIONS[1], max_depth=2),
    fitted(MultiObjectiveTreeClassifier, RELATIONS[0], **FRONT),
]
