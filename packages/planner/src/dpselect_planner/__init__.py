"""Planner: the mechanism, epsilon or number of people for a task, in Python and as one page.

A question (``MostCommon``, ``BestScore``, ``Percentile``, ``Keys``, ``Subset``, ``Response``)
is made of public or synthetic data, or of a shape. ``page`` has the same answers without
Python. ``compare`` and ``coverage`` measure mechanisms and fronts on scores that are public.
"""

from dpselect.extend import attach

# The names are listed in __init__.pyi.
__getattr__, __dir__, __all__ = attach(__name__)
