"""Confidence in the set that is read off released noisy scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpselect import _validate
from dpselect.draws import sequence
from dpselect.draws.grid import to_steps
from dpselect.errors import ParameterError
from dpselect.mechanisms.sequence import NoisySequence


def set_confidence(
    noisy_scores: Sequence[float], k: int = 1, *, mechanism: NoisySequence
) -> float:
    r"""Return the probability that the ``k`` largest noisy scores are of the ``k`` best.

    It is conditional on the noisy scores, and for a flat prior: every true score is taken as
    its noisy score less an independent noise of the law that was drawn, all values of true
    scores being as likely beforehand. That is no frequency: over repeated releases of the same
    scores the set may be right more or less often. It reads released numbers alone and costs
    nothing.

    Args:
        noisy_scores: Those of *all* candidates, as of a release of all ``n``; at most some
            ten thousand within the reach of the noise.
        k: 1 to ``n``.
        mechanism: The mechanism that drew, with its ``l1``, and ``bound`` and ``step`` if the
            objective states them. Public.

    Returns:
        In [0, 1]. May be published.

    Raises:
        ParameterError: ``k`` is out of its range, the scores are not finite, or ``mechanism``
            has no ``l1``.

    Examples:
        >>> import dpselect as dp
        >>> votes = dp.NoisySequence(epsilon=1.0, l1=1, step=1)
        >>> round(set_confidence([90, 84, 3, -1], 2, mechanism=votes), 3)
        1.0
        >>> round(set_confidence([90, 84, 83, -1], 2, mechanism=votes), 2)
        0.82
    """
    noisy = np.asarray(noisy_scores, dtype=np.float64)
    if noisy.ndim != 1 or not np.isfinite(noisy).all():
        raise ParameterError("noisy_scores must be finite numbers, one for each candidate")
    k = _validate.at_least("k", k, 1)
    if k > noisy.size:
        raise ParameterError(f"k must be at most the number of scores, {noisy.size}, not {k}")
    steps = to_steps(noisy, mechanism.stated_l1, mechanism.step)
    chosen = np.zeros(noisy.size, dtype=bool)
    chosen[sequence.largest(steps.counts, k)] = True
    return sequence.all_before(steps.counts, mechanism.noise_for(steps), chosen)
