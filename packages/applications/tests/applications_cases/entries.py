"""What applications read, of odd data of every container (``support.odd_entries``)."""

import numpy as np

import dpselect as dp
from dpselect import tuning
from dpselect.trees import ID3Classifier
from dpselect_applications.columns import PrivateSelectKBest
from dpselect_applications.variants import genotype_counts
from support import odd_fields as odd

CODES = {"tree": {"a": "1", "b": "1", "0": "2", "3": "2"}, **odd.BOTH}
NUMBERS = {"tree": {"0": "8", "1": "8", "2": "9", "3": "9"}, **odd.BOTH}

# A query is made once: most of them take longer to plan than to release.
HALF = dp.Percentiles(**odd.MEDIAN)
BEST = dp.BestOf(repetitions=tuning.Geometric(mean=2), epsilon_per_run=1.0, neighbours=odd.AR)
STUMP, DEPTHS = ID3Classifier(**odd.PUBLIC, max_depth=1), {"max_depth": [0, 1]}
SEARCHED = {"estimator": STUMP, "grid": DEPTHS, "columns": ["f", "g"], "method": "all"}
SEARCH = tuning.Search(**SEARCHED, epsilon=2.0)
VARIANTS_OF = dp.TopVariants(
    variants=odd.VARIANTS,
    counts=odd.COLUMNS[:4],
    label=odd.COLUMNS[4],
    cases=5,
    controls=5,
    k=1,
    epsilon=1,
)


def search(**asked):
    grid = {"max_depth": [0, 1]}
    return tuning.PrivateSearchCV(
        odd.id3(**asked), grid, epsilon=2.0, method="all", random_state=1
    )


def studied(given):
    study = tuning.PrivateStudy(["a", "b"], BEST)
    for _ in study:
        study.tell(1.0, HALF.release(given))
    return study.release


READ = {
    "values": {
        "numbers": {
            "BestOf": lambda values: BEST.release([lambda: (1.0, HALF.release(values).answer)]),
            "PrivateStudy": studied,
        },
        "candidates": {"Levels": dp.Levels(**CODES)},
        "scores": {
            "StableArgmax": lambda scores: dp.StableArgmax(**odd.SURE).release(
                odd.objective(scores, monotone=True)
            ),
        },
    },
    "rows": {
        "edges": {"Hubs": dp.Hubs(**odd.NODES)},
        "points": {
            "HeavyCells": dp.HeavyCells(**odd.CELLS),
            "HeavyCells with intervals": dp.HeavyCells(
                **{**odd.CELLS, "grid": 9}, **odd.SEQUENCE
            ),
        },
    },
    "table": {
        "edges of persons": {"Hubs of persons": dp.Hubs(**odd.EDGES, **odd.PEOPLE)},
        "points of a table": {
            "HeavyCells, clipped": dp.HeavyCells(outside="clip", **odd.PLACES, **odd.CELLS)
        },
        "points of persons": {
            "HeavyCells of persons": dp.HeavyCells(**odd.PLACES, **odd.CELLS, **odd.PEOPLE)
        },
        "points in groups": {
            "HeavyCells in groups": dp.HeavyCells(
                **odd.PLACES, **odd.CELLS, by="y", groups=[0, "a"]
            )
        },
        "records of a table": {"BestColumns": dp.BestColumns(k=1, **odd.BY_COLUMN)},
        "keys of columns": {
            "Levels of a column": dp.Levels(column="f", inner="own", **CODES),
            "Levels of numbers": dp.Levels(column="f", inner="own", **NUMBERS),
        },
        "keys of persons": {"Levels of persons": dp.Levels(column="f", **CODES, **odd.PEOPLE)},
        "keys of periods": {
            "Series": dp.Series(period="g", periods=[0, "a", 2], k=1, **odd.KNOWN)
        },
    },
    "labelled": {
        "labelled records": {
            "PrivateSelectKBest": odd.fitted(lambda: PrivateSelectKBest(**odd.UNNAMED, k=1)),
            "PrivateClassifier": odd.fitted(
                lambda: tuning.PrivateClassifier(
                    odd.id3(epsilon=1.0), epsilon=1.0, neighbours=odd.AR
                )
            ),
        },
        "parts of labelled records": {"PrivateSearchCV": odd.fitted(search)},
    },
    "frame": {
        "parts of a frame": {
            "PrivateSearchCV, of a frame": odd.labels_apart(
                lambda rows, labels: search(domains=odd.PUBLIC).fit(rows, labels)
            ),
            "Search": odd.labels_apart(lambda *records: SEARCH.release(records)),
        }
    },
    "counts": {
        "variants": {"TopVariants": VARIANTS_OF},
        "genotypes": {
            "genotype_counts": lambda copies: genotype_counts(copies, np.arange(4) < 2)
        },
    },
    "table of counts": {"variants of a table": {"TopVariants of a table": VARIANTS_OF}},
}
"""By the shape of the data and the way it is read."""
