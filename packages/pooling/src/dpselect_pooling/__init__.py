"""Private group testing: designs, noise before and after pooling, decoders and worksheets.

:func:`compare_designs` simulates designs, a :class:`Worksheet` says which sample goes into
which pool, and :func:`decode` says who is positive. :class:`PooledOutcomes` flips outcomes
(noise after pooling), :class:`SwappedPools` and :class:`ReplacedSamples` are noise that the
collector makes, after and before pooling.
"""

from dpselect.lazy import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
