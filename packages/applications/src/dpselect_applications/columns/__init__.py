"""The columns of a table that say most about its labels.

``BestColumns`` selects them, ``PrivateSelectKBest`` as a transformer of scikit-learn's form.
"""

from dpselect.extend import attach

# scikit-learn takes seconds to import, and the query does without it.
__getattr__, __dir__, __all__ = attach(__name__)
