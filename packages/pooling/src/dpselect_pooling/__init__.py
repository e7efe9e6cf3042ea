"""Private group testing: designs, noise before and after pooling, decoders and worksheets.

``compare_designs`` simulates designs, a ``Worksheet`` lists which sample goes into which pool,
and ``decode`` reports who is positive. ``PooledOutcomes`` flips outcomes (noise after pooling),
``SwappedPools`` and ``ReplacedSamples`` are noise that the collector makes, after and before
pooling.
"""

from dpselect.extend import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
