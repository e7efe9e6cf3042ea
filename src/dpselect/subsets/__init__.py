"""Private subset retrieval: release the members of a set, with a few errors.

``Subset`` releases a subset near a private one, of public or of private size.
"""

from dpselect._optional import attach

__getattr__, __dir__, __all__ = attach(__name__)
