from dpselect_planner import (
    coverage as coverage,
)

from .fronts.score import (
    pareto as pareto,
    pareto_front as pareto_front,
)
from .fronts.sensitivity import (
    ParetoSensitivity as ParetoSensitivity,
)
from .margins import (
    margin as margin,
)
from .registry import (
    COMBINATIONS as COMBINATIONS,
    by_name as by_name,
    facts_of as facts_of,
    mechanism_for as mechanism_for,
)
from .sums import (
    disjoint_sum as disjoint_sum,
    weighted_sum as weighted_sum,
)
