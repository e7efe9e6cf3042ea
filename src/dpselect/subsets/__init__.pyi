from dpselect_planner import (
    theorem_1_lower as theorem_1_lower,
    theorem_1_upper as theorem_1_upper,
    theorem_2_lower as theorem_2_lower,
    theorem_2_upper as theorem_2_upper,
)

from .subset import (
    Subset as Subset,
)
