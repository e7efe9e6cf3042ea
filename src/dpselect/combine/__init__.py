"""Combinations of several objectives into one: Pareto score, weighted sum and margin."""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
