"""The best of several private releases, and choices of a candidate with a clear lead."""

from dpselect.extend import attach

# scikit-learn takes seconds to import, and all but the search does without it.
__getattr__, __dir__, __all__ = attach(__name__)
