"""Combinations of several objectives into one: Pareto score, weighted sum and margin."""

from dpselect.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
