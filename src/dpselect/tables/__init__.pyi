from .columns import (
    collect as collect,
    count_records as count_records,
    counts as counts,
    declared_float as declared_float,
    lazy_columns as lazy_columns,
    numeric_column as numeric_column,
    read_columns as read_columns,
    series_numbers as series_numbers,
)
from .engine import (
    Column as Column,
    Frame as Frame,
)
from .opening import (
    check_columns as check_columns,
    is_lazy as is_lazy,
    is_ordered as is_ordered,
    is_table as is_table,
    open_table as open_table,
    schema as schema,
)
from .people import (
    PeopleCap as PeopleCap,
)
from .source import (
    Source as Source,
)
from .spark import (
    spark_table as spark_table,
)
