"""Draw the picture of the theory page: five theorems, each on exact laws.

Run: ``python benchmarks/theory.py``; writes ``docs/report/theory.png``.
"""

from __future__ import annotations

from math import comb
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from dpselect.draws import Exponential, PermuteAndFlip
from dpselect.draws.exponential import bounded_range_rho
from dpselect.draws.noisy_max import laplace_rho
from dpselect.draws.permute_and_flip import permute_and_flip_rho

PICTURE = Path(__file__).parents[1] / "docs" / "theory.png"


def curve(axes: Axes) -> None:
    """Draw what an event may gain by one step, and pairs of two candidates on it."""
    epsilon, a = 1.0, np.linspace(0, 1, 400)
    low, high = np.exp(epsilon) * a, 1 - np.exp(-epsilon) * (1 - a)
    middle = 1 - np.exp(-epsilon) / (4 * np.maximum(a, 1e-9))
    axes.plot(a, np.where(low <= 0.5, low, np.where(a <= 0.5, middle, high)), label="Laplace")
    axes.plot(a, np.minimum(low, high), ":", label="any epsilon-DP")
    gaps = np.linspace(-3, 5, 17)
    pairs = [
        [
            PermuteAndFlip().probabilities(np.array(one), epsilon)[0]
            for one in ([gap, 0], [gap + 1, -1])
        ]
        for gap in gaps
    ]
    axes.plot(*np.transpose(pairs), "o", ms=3, label="two candidates")
    axes.set(title="3, 4: one event before and after", xlabel="before", ylabel="after")


def prices(axes: Axes) -> None:
    """Draw rho over that of Laplace noise."""
    epsilons = np.geomspace(0.02, 20, 120)
    laplace = np.array([laplace_rho(one) for one in epsilons])
    for name, price in (
        ("permute-and-flip", permute_and_flip_rho),
        ("exponential", bounded_range_rho),
    ):
        axes.plot(epsilons, [price(one) for one in epsilons] / laplace, label=name)
    axes.set(title="6, 8: rho over that of Laplace noise", xlabel="epsilon", xscale="log")
    axes.set_ylim(0, 1.05)


def sandwich(axes: Axes) -> None:
    """Draw the error of one draw among ten candidates, of which nine tie."""
    leads = np.linspace(0, 14, 100)
    for name, draw, epsilon in (
        ("exponential", Exponential(), 1.0),
        ("permute-and-flip", PermuteAndFlip(), 1.0),
        ("exponential, twice epsilon", Exponential(), 2.0),
    ):
        errors = [
            1 - draw.probabilities(np.r_[lead, np.zeros(9)], epsilon)[0] for lead in leads
        ]
        axes.plot(leads, errors, label=name)
    axes.set(title="9: between two exponential draws", xlabel="lead", ylabel="P(wrong)")
    axes.set_yscale("log")


def optimum(axes: Axes) -> None:
    """Draw the error of two candidates against the steps to a tie."""
    steps, epsilon = np.arange(13), 1.0
    flip = PermuteAndFlip()
    least = np.exp(-epsilon * steps) / 2
    pairwise = [flip.probabilities(np.array([float(h), -float(h)]), epsilon)[1] for h in steps]
    inverse = [flip.probabilities(np.array([0.0, -float(h)]), epsilon)[1] for h in steps]
    axes.plot(steps, least, "k:", label="least of any mechanism")
    axes.plot(steps, pairwise, "o", ms=3, label="pairwise")
    axes.plot(steps, inverse, "s", ms=3, label="inverse sensitivity")
    axes.set(title="53: what a lead is worth", xlabel="steps to a tie", ylabel="P(wrong)")
    axes.set_yscale("log")


def sets(axes: Axes) -> None:
    """Draw the lead that finds the right ``k`` of a thousand, by the bounds of the page."""
    n, beta = 1000, 0.05
    ks = np.unique(np.geomspace(1, 500, 60).astype(int))
    logs = np.array([float(np.log(float(comb(n, int(k))))) for k in ks])
    axes.plot(ks, logs + np.log(1 - beta), "k:", label="least, any number of values")
    axes.plot(ks, logs - np.log(beta), label="one set")
    axes.plot(ks, ks * np.log(n * ks / beta), label="rounds")
    for most in (1, 10):
        noisy = np.full(ks.shape, 2 * most * np.log(2 * n / beta))
        axes.plot(ks, noisy, "--", label=f"sequence, {most} per person")
    axes.set(title="14, 15: lead that is enough", xlabel="k", xscale="log", yscale="log")


def main() -> None:
    """Draw the picture."""
    figure, grid = plt.subplots(3, 2, figsize=(6.8, 9), layout="constrained")
    for axes, draw in zip(grid.flat, (curve, prices, sandwich, optimum, sets), strict=False):
        draw(axes)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        axes.title.set_fontsize("medium")
    grid.flat[-1].axis("off")
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
