"""Tables of any kind: sources, columns, the rows of people, and aggregates of an engine.

Rows stay in the engine that holds them: polars, DuckDB, PySpark or any other that narwhals
knows. An application states a count as narwhals expressions, and ``collect`` returns at most as
many rows as the count was declared to have. This package knows no application.
"""

from dpselect._optional import attach

# narwhals takes long to import, and data in memory may never need it.
__getattr__, __dir__, __all__ = attach(__name__)
