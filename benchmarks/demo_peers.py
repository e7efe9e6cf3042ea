# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["diffprivlib==0.6.6", "numpy==2.4.6", "scikit-learn==1.6.1"]
# ///
"""Accuracy of diffprivlib's classifiers on the tumours of ``dpselect demo``.

``uv run benchmarks/demo_peers.py`` makes the environment named above and prints, for each
depth, the mean accuracy over the folds of the demo; those of depth 2 and the best ones are
stored in ``dpselect.cli.demo``. diffprivlib does not import under the scikit-learn that
dpselect needs. Both get the public bounds and classes that our tree gets; the forest has its
default of ten trees.
"""

from __future__ import annotations

import warnings

import numpy as np
from diffprivlib.models import DecisionTreeClassifier, RandomForestClassifier
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

EPSILON, REPETITIONS, FITS = 1.0, 5, 2
BOUNDS = ([5, 0], [40, 0.3])
COLUMNS = ("worst radius", "worst concave points")
DEPTHS = (2, 3, 5, 8, 12)


def main() -> None:
    """Print the accuracy of both by depth."""
    warnings.simplefilter("ignore")
    tumours = load_breast_cancer()
    names = list(tumours.feature_names)
    x, y = tumours.data[:, [names.index(name) for name in COLUMNS]], tumours.target
    for model in (DecisionTreeClassifier, RandomForestClassifier):
        for depth in DEPTHS:
            scores = [
                model(max_depth=depth, epsilon=EPSILON, bounds=BOUNDS, classes=[0, 1])
                .fit(x[train], y[train])
                .score(x[test], y[test])
                for repetition in range(REPETITIONS)
                for train, test in StratifiedKFold(
                    5, shuffle=True, random_state=repetition
                ).split(x, y)
                for _ in range(FITS)
            ]
            print(model.__name__, depth, round(float(np.mean(scores)), 3))


if __name__ == "__main__":
    main()
