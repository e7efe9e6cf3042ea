"""Accuracy of other libraries' private trees, on the same folds as ours.

diffprivlib 0.6.6 and interpret-core 0.7.8 need another scikit-learn than dpselect does, so
they are measured by ``benchmarks/trees_peers.py`` in an environment of their own, and what
that wrote is repeated here. DP-EBM is no tree but a sum of small ones, without a depth, and
its guarantee is (epsilon, 1e-6), weaker than the pure one of the others.
"""

from __future__ import annotations

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0)

ACCURACY = {
    ("diffprivlib tree", "nltcs", 2): (0.69055, 0.69109, 0.69111, 0.69112, 0.69112, 0.69112),
    ("diffprivlib tree", "nltcs", 5): (0.75522, 0.76195, 0.76247, 0.76306, 0.76316, 0.76312),
    ("diffprivlib forest", "nltcs", 2): (0.67631, 0.70599, 0.7089, 0.70878, 0.70809, 0.70843),
    ("diffprivlib forest", "nltcs", 5): (0.65732, 0.68848, 0.69957, 0.7134, 0.71458, 0.71368),
    ("DP-EBM", "nltcs", None): (0.72305, 0.79897, 0.80113, 0.79895, 0.80129, 0.80062),
    ("DP-EBM, learning rate 0.1", "nltcs", None): (
        0.68101,
        0.79679,
        0.80718,
        0.82052,
        0.8196,
        0.81895,
    ),
    ("diffprivlib tree", "acs", 2): (0.9291, 0.92932, 0.92933, 0.92933, 0.92933, 0.92933),
    ("diffprivlib tree", "acs", 5): (0.92718, 0.93007, 0.93045, 0.93055, 0.93057, 0.93058),
    ("diffprivlib forest", "acs", 2): (0.92803, 0.92803, 0.92803, 0.92803, 0.92803, 0.92803),
    ("diffprivlib forest", "acs", 5): (0.92785, 0.92805, 0.92812, 0.92812, 0.92812, 0.92812),
    ("DP-EBM", "acs", None): (0.92702, 0.92804, 0.92803, 0.92803, 0.92803, 0.92803),
    ("DP-EBM, learning rate 0.1", "acs", None): (
        0.87994,
        0.92227,
        0.92714,
        0.92931,
        0.92803,
        0.92803,
    ),
    ("diffprivlib tree", "adult", 2): (0.75288, 0.75314, 0.75318, 0.75318, 0.75318, 0.75319),
    ("diffprivlib tree", "adult", 5): (0.75408, 0.75693, 0.75713, 0.75743, 0.75744, 0.75744),
    ("diffprivlib forest", "adult", 2): (0.75216, 0.75216, 0.75216, 0.75216, 0.75216, 0.75216),
    ("diffprivlib forest", "adult", 5): (0.75239, 0.75242, 0.75252, 0.75271, 0.75273, 0.75277),
    ("DP-EBM", "adult", None): (0.75469, 0.76249, 0.75861, 0.77801, 0.78884, 0.79466),
    ("DP-EBM, learning rate 0.1", "adult", None): (
        0.70486,
        0.78769,
        0.81648,
        0.83725,
        0.83711,
        0.83977,
    ),
}
"""Mean over folds at each of EPSILONS, by library, data set and largest depth."""

METHODS = tuple(dict.fromkeys(method for method, _, _ in ACCURACY))


def accuracy(method: str, survey: str, depth: int, epsilon: float) -> float:
    """Return what was measured; a method without a depth is the same at each.

    Raises:
        KeyError: There is no such method or data set.
        ValueError: It was not measured at that epsilon.
    """
    known = (method, survey, None)
    found = ACCURACY[known if known in ACCURACY else (method, survey, depth)]
    return found[EPSILONS.index(epsilon)]
