"""Private selection mechanisms.

Each consists of a scaling, which turns scores into unit scores, and a draw from these.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
