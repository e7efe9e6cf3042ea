"""Decision trees whose splits are chosen privately.

A split is a choice among columns, a tree grown by evolution a choice among trees. The drawn
columns and trees and noisy counts are released, by a query or by an estimator of scikit-learn's
form.
"""

from dpselect._optional import attach

# scikit-learn takes seconds to import, and the queries and objectives do without it.
__getattr__, __dir__, __all__ = attach(__name__)
