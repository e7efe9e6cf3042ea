"""Auditors of others on our releases: what they find, and what they find of a planted bug.

Runs the histogram tester of Google's DP-Auditorium, ETH's DP-Sniper with its logistic
regression, and dp-recorder, each at one commit, on releases of three possible answers and one
pair of neighbours that is written here. The first two get the same draws; their control is the
same release with twice the epsilon that is claimed. dp-recorder gets the inputs of a release's
samplers on both databases; its control is a neighbour in which the record counts twice. Run, in
the folder of the project::

    make witness

The sources are fetched with git into a temporary folder, from GitHub, or from the folder of
repositories that the environment variable WITNESS_SOURCES names. Writes
``benchmarks/results/witness.csv``, a row for each tool and release.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import dpselect as dp
from dpselect.draws.exact.samplers import intercepted

RESULTS = Path(__file__).with_name("results") / "witness.csv"
CLAIMED = 1.0
CONFIDENCE = 0.95
NEIGHBOURS = dp.Neighbours.ADD_REMOVE
NAMES = ["a", "b", "c"]
WITHOUT = ":(exclude,glob)**/__init__.py"
COLUMNS = ["tool", "commit", "release", "neighbours", "claimed_epsilon", "draws", "finds"]
COLUMNS += ["figure", "rejected", "control_figure", "control_rejected"]

Answers = NDArray[np.int64]
Pair = tuple[Answers, Answers]
Draw = Callable[[list[Any], float, int], Answers]
Sample = Callable[[], Any]

SENSITIVITY = {"discrete_laplace": 1.0, "first_above": 1.0}
SENSITIVITY |= {"largest_of_each": 2.0, "top_k_exponential_noise": 2.0}
"""What a neighbour can change a sampler's inputs by: those of a maximum are twice the scores,
less the best of them."""


@dataclass(frozen=True)
class Tool:
    """An auditor of others.

    Attributes:
        address: Of its repository.
        commit: The one that is run.
        folder: Of its package, in the repository.
        finds: What its figure is.
        largest: The figure from which it rejects the claim.
        figures: Its figures of a release and of its control, by name and number of draws.
    """

    address: str
    commit: str
    folder: str
    finds: str
    largest: float
    figures: Callable[[str, int], tuple[float, float]]

    @property
    def name(self) -> str:
        return self.address.rpartition("/")[2]

    def fetch(self, folder: Path) -> None:
        """Check the commit out, and let Python find it.

        Without ``__init__.py``: that of DP-Auditorium imports TensorFlow and Vizier, which the
        histogram tester does not use.
        """
        sources = os.environ.get("WITNESS_SOURCES")
        # A repository at hand may lack what is not checked out here.
        source = (
            ["--filter=blob:none", self.address]
            if sources is None
            else ["--shared", str(Path(sources, self.name).resolve())]
        )
        checkout = str(folder / self.name)
        for command in (
            ["clone", "--quiet", "--no-checkout", *source, checkout],
            ["-C", checkout, "checkout", "--quiet", self.commit, "--", self.folder, WITHOUT],
        ):
            subprocess.run(["git", *command], check=True)  # noqa: S603, S607 -- git, our commands
        sys.path.append(str(Path(checkout, self.folder).parent))


def of_draws(figure: Callable[[Pair], float]) -> Callable[[str, int], tuple[float, float]]:
    """The figures of a tool that looks at answers."""

    def figures(name: str, size: int) -> tuple[float, float]:
        ours, control = (
            figure(answers(name, epsilon, size)) for epsilon in (CLAIMED, 2 * CLAIMED)
        )
        return ours, control

    return figures


@cache
def answers(name: str, epsilon: float, size: int) -> Pair:
    """The answers of a release on both databases."""
    draw, *pair = CASES[name]
    with_record, without = (draw(people, epsilon, size) for people in pair)
    return with_record, without


def in_histograms(pair: Pair) -> float:
    """DP-Auditorium's lower bound of the delta that is needed beside the claimed epsilon."""
    from dp_auditorium.configs import (  # type: ignore[import-not-found]
        privacy_property,
        property_tester_config,
    )
    from dp_auditorium.testers import histogram_tester  # type: ignore[import-not-found]

    tester = histogram_tester.HistogramTester(
        property_tester_config.HistogramPropertyTesterConfig(
            test_discrete_mechanism=True,
            histogram_size=len(NAMES),
            min_value=0,
            max_value=len(NAMES) - 1,
            approximate_dp=privacy_property.ApproximateDp(epsilon=CLAIMED, delta=0.0),
        )
    )
    return float(tester.estimate_lower_bound(*pair, 1 - CONFIDENCE))


def by_attack(pair: Pair) -> float:
    """DP-Sniper's lower bound of epsilon: a third of the draws trains, selects, estimates."""
    from dpsniper.attack.dpsniper import DPSniper  # type: ignore[import-not-found]
    from dpsniper.classifiers.classifier_factory import (  # type: ignore[import-not-found]
        LogisticRegressionFactory,
    )
    from dpsniper.classifiers.torch_optimizer_factory import (  # type: ignore[import-not-found]
        AdamOptimizerFactory,
    )
    from dpsniper.probability.estimators import (  # type: ignore[import-not-found]
        EpsEstimator,
        PrEstimator,
    )
    from dpsniper.search.ddconfig import DDConfig  # type: ignore[import-not-found]
    from dpsniper.utils.paths import set_output_directory  # type: ignore[import-not-found]
    from dpsniper.utils.torch import torch_initialize  # type: ignore[import-not-found]

    third = len(pair[0]) // 3
    config = DDConfig(
        n_train=third, n=third, n_check=third, n_processes=1, confidence=CONFIDENCE
    )
    answers = Drawn(pair)
    factory = LogisticRegressionFactory(
        in_dimensions=len(NAMES), optimizer_factory=AdamOptimizerFactory()
    )
    with tempfile.TemporaryDirectory() as folder:
        set_output_directory(folder)
        torch_initialize(torch_threads=1)
        attack = DPSniper(answers, factory, config).best_attack(0, 1)
        estimator = EpsEstimator(PrEstimator(answers, third, config))
        _, lower = estimator.compute_eps_estimate(0, 1, attack)
    return float(lower)


def in_recordings(name: str, _: int) -> tuple[float, float]:
    """dp-recorder's figures: how far a sampler's inputs are apart, in its sensitivities."""
    draw, small, large = CASES[name]
    record = (Counter(large) - Counter(small)).elements()
    return distance(draw, small, large), distance(draw, small, [*large, *record])


def distance(draw: Draw, small: list[Any], large: list[Any]) -> float:
    """Record on one database, replay on the other, and let dp-recorder compare."""
    from dp_recorder.auditing import metrics  # type: ignore[import-not-found]
    from dp_recorder.auditing.audit_primitives import Auditor  # type: ignore[import-not-found]

    auditor = Auditor()

    def handler(
        name: str, sample: Sample, args: tuple[Any, ...], fields: dict[str, Any]
    ) -> object:
        def sampled(**_: object) -> object:
            return sample()

        return auditor.intercept_mechanism(
            name,
            sampled,
            "private",
            "sensitivity",
            metrics.dist_linf,
            None,
            private=np.asarray(args[0]),
            sensitivity=SENSITIVITY[name.rpartition(".")[2]],
            public=(args[1:], fields),
        )

    with intercepted(handler):
        draw(small, CLAIMED, 1)
        auditor.set_replay()
        draw(large, CLAIMED, 1)
    farthest = max(
        entry.metric_fn(entry.inputs_d["private"], entry.inputs_dp["private"])
        / entry.sensitivity_val
        for entry in auditor.log
    )
    if farthest <= 1:
        auditor.validate_records()
    return float(farthest)


class Drawn:
    """A mechanism of DP-Sniper's kind that deals out answers drawn before, each once."""

    def __init__(self, pair: Pair) -> None:
        self.left = [np.eye(len(NAMES))[answers] for answers in pair]

    def m(self, a: int, n_samples: int = 1) -> NDArray[np.float64]:
        """Return the next answers on one of the databases, one-hot."""
        dealt, self.left[a] = np.split(self.left[a], [n_samples])
        return dealt


TOOLS = {
    "DP-Auditorium, histogram tester": Tool(
        "https://github.com/google/differential-privacy",
        "b5b0286e313b64a692abfc8c528d54ef47d960a0",
        "python/dp_auditorium/dp_auditorium",
        f"delta at the claimed epsilon, lower bound of confidence {CONFIDENCE}",
        0.0,
        of_draws(in_histograms),
    ),
    "DP-Sniper, logistic regression": Tool(
        "https://github.com/eth-sri/dp-sniper",
        "ee087b2584ca97d1064154db5dd2bda0bb5a8ceb",
        "dpsniper",
        f"epsilon, lower bound of confidence {CONFIDENCE}",
        CLAIMED,
        of_draws(by_attack),
    ),
    "dp-recorder": Tool(
        "https://github.com/ObliviousAI/dp-recorder",
        "85d189ebd7ff81a52984708322ee2c2d8c479db4",
        "src/dp_recorder",
        "largest distance of a sampler's inputs, in its sensitivities",
        1.0,
        in_recordings,
    ),
}


def in_groups(people: list[Any], size: int) -> pl.DataFrame:
    """A table in which every group holds these people: each group's answer is one draw."""
    return pl.DataFrame(
        {"group": np.repeat(np.arange(size), len(people)), "value": people * size}
    )


def top_keys(people: list[Any], epsilon: float, size: int) -> Answers:
    """The most common of three names."""
    query = dp.TopKeys(
        column="value",
        k=1,
        candidates=NAMES,
        by="group",
        groups=range(size),
        epsilon=epsilon,
        neighbours=NEIGHBOURS,
    )
    return np.array(
        [NAMES.index(name) for _, name in query.release(in_groups(people, size)).answer]
    )


def percentiles(people: list[Any], epsilon: float, size: int) -> Answers:
    """The median of values from 0 to 2."""
    query = dp.Percentiles(
        column="value",
        p=50,
        upper=2,
        step=1,
        by="group",
        groups=range(size),
        epsilon=epsilon,
        neighbours=NEIGHBOURS,
    )
    return np.array([value for _, (value,) in query.release(in_groups(people, size)).answer])


def permute_and_flip(people: list[Any], epsilon: float, size: int) -> Answers:
    """One of three names by how many people have it."""
    mechanism = dp.PermuteAndFlip(epsilon=epsilon)
    objective = dp.Objective(
        [people.count(name) for name in NAMES],
        dp.GlobalSensitivity(1, NEIGHBOURS),
        candidates=NAMES,
        monotone=True,
    )
    return np.array([NAMES.index(mechanism.release(objective).candidate) for _ in range(size)])


def above_threshold(people: list[Any], epsilon: float, size: int) -> Answers:
    """Two queries, people of either name; position 2 is that neither was found above."""
    mechanism = dp.AboveThreshold(
        threshold=1, sensitivity=1, monotone=True, epsilon=epsilon, neighbours=NEIGHBOURS
    )
    counts = [people.count(name) for name in NAMES[:2]]
    return np.array([(*mechanism.release(counts).answer, 2)[0] for _ in range(size)])


CASES: dict[str, tuple[Draw, list[Any], list[Any]]] = {
    "Percentiles": (percentiles, [1, 2], [0, 1, 2]),
    "AboveThreshold": (above_threshold, ["b"], ["a", "b"]),
    "TopKeys": (top_keys, ["a", "b", "c"], ["a", "a", "b", "c"]),
    "PermuteAndFlip": (permute_and_flip, ["a", "b", "c"], ["a", "a", "b", "c"]),
}
"""How each release is drawn, and a pair of neighbours."""


def rows(name: str, size: int) -> list[list[object]]:
    """What all tools find of a release, and of its control."""
    found = []
    for title, tool in TOOLS.items():
        row: list[object] = [
            title,
            tool.commit,
            name,
            NEIGHBOURS.value,
            CLAIMED,
            size,
            tool.finds,
        ]
        for figure in tool.figures(name, size):
            row += [f"{figure:.4f}", figure > tool.largest]
        found.append(row)
        print(*row, flush=True)
    return found


def main() -> None:
    """Run all tools on all releases."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--draws", type=int, default=30_000, help="of each release and database"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for tool in TOOLS.values():
            tool.fetch(Path(folder))
        found = [row for name in CASES for row in rows(name, arguments.draws)]
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *found])


if __name__ == "__main__":
    main()
