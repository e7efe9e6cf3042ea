"""Releasing estimators of :mod:`dpselect.trees`."""

import numpy as np
import polars as pl

from dpselect.mechanisms import MECHANISMS
from dpselect.neighbours import Neighbours
from dpselect.trees import ID3Classifier, MultiObjectiveTreeClassifier, PrivateSelectKBest
from support.releases import ReleaseCase

PUBLIC = {
    "domains": {"sky": ["sun", "rain"], "wind": [0, 1, 2]},
    "classes": ["dry", "wet"],
    "max_records": 100,
}
SELECTIONS = [
    ("weighted-sum", "noisy-denominators"),
    ("weighted-sum", "local"),
    ("pareto", "global"),
    ("margin", "local"),
]


def pair_of(relation):
    def pair(rng):
        rows = [
            (
                str(rng.choice(["sun", "rain"])),
                int(rng.integers(3)),
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


def case(estimator, relation, name, *, lazy=False, **arguments):
    def made(budget=None):
        return estimator(1.0, **PUBLIC, **arguments, neighbours=relation, budget=budget)

    def release(data, budget):
        if lazy:
            return made(budget).fit(data.lazy(), "weather")
        return made(budget).fit(data.drop("weather"), data["weather"])

    return ReleaseCase(
        name=f"{estimator.__name__}, {relation}, {name}",
        neighbours=relation,
        release=release,
        plan=lambda: made().plan(),
        pair=(pair_of_persons if "user" in arguments else pair_of)(relation),
    )


RELATIONS = [Neighbours.ADD_REMOVE, Neighbours.SUBSTITUTE]
PERSONS = {"user": "who", "max_per_user": 2}
CASES = [
    *(
        case(ID3Classifier, relation, name, max_depth=2, mechanism=name)
        for relation in RELATIONS
        for name in MECHANISMS
    ),
    case(ID3Classifier, RELATIONS[0], "in an engine", lazy=True, max_depth=2),
    case(ID3Classifier, RELATIONS[0], "persons", max_depth=1, **PERSONS),
    case(
        ID3Classifier, RELATIONS[0], "persons in an engine", lazy=True, max_depth=1, **PERSONS
    ),
    case(ID3Classifier, RELATIONS[1], "persons", max_depth=1, **PERSONS),
    case(PrivateSelectKBest, RELATIONS[1], "persons", k=2, **PERSONS),
    *(case(PrivateSelectKBest, relation, "two columns", k=2) for relation in RELATIONS),
    case(PrivateSelectKBest, RELATIONS[0], "in an engine", lazy=True, k=1, criterion="gini"),
    *(
        case(
            MultiObjectiveTreeClassifier,
            relation,
            f"{selection}, {sensitivity}",
            selection=selection,
            sensitivity=sensitivity,
            population=6,
            survivors=2,
            front=2,
            generations=2,
            initial_depth=1,
            max_depth=2,
            random_state=1,
        )
        for relation in RELATIONS
        for selection, sensitivity in SELECTIONS
    ),
]
