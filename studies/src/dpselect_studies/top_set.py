"""One draw of a whole set, simulated: the exponential mechanism over all sets of ``k``.

A set has the weight ``exp(ε L / 4)``, ``L`` its least unit score less the largest that is left
out; unit scores of a monotone objective are twice as far apart. Theorem 15 of the theory page
of dpselect. For experiments, not for releases: it is computed in floats.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp

from dpselect import Objective
from dpselect.scaling import by_global
from dpselect.typing import Indices


def simulated(
    objective: Objective, k: int, epsilon: float, *, size: int, rng: np.random.Generator
) -> Indices:
    """Return positions of simulated sets, shape ``(size, k)``, ascending in each row.

    Of candidates in falling order let ``o`` be the first that is left out and ``t`` the last
    that is drawn: all before ``o`` are drawn, ``t``, and any ``k - o`` of those between, o from
    0. So the law is a table of ``o`` and ``t``.

    Args:
        objective: The objective to choose by.
        k: Size of the set; 1 to one less than the number of candidates.
        epsilon: Epsilon of the whole draw, in nats.
        size: Number of sets.
        rng: The generator.
    """
    scores = by_global(objective)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.arange(k, ranked.size)
    logs = [np.array([epsilon / 4 * (ranked[k - 1] - ranked[k])])]
    for o in range(k):
        between = last - o - 1
        ways = gammaln(between + 1) - gammaln(k - o) - gammaln(between - k + o + 2)
        logs.append(ways + epsilon / 4 * (ranked[last] - ranked[o]))
    totals = np.array([logsumexp(one) for one in logs])
    places = np.repeat(np.arange(k)[None, :], size, axis=0)
    kinds = rng.choice(k + 1, size, p=np.exp(totals - logsumexp(totals)))
    for row, kind in zip(places, kinds.tolist(), strict=True):
        if kind:
            o = kind - 1
            t = int(rng.choice(last, p=np.exp(logs[kind] - totals[kind])))
            between = rng.choice(np.arange(o + 1, t), k - o - 1, replace=False)
            row[o:] = [*np.sort(between), t]
    return np.sort(order[places], axis=1)
