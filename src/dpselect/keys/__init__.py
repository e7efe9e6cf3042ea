"""Keys of people: the most common values of a column, and which values there are.

``TopKeys`` draws among public candidates or among the keys of the data; ``Keys`` releases the
set of keys that enough people have.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
