from .base import (
    ElementSensitivity as ElementSensitivity,
    GlobalSensitivity as GlobalSensitivity,
    Interval as Interval,
    LocalSensitivity as LocalSensitivity,
    Sensitivity as Sensitivity,
    TabulatedSensitivity as TabulatedSensitivity,
    at_bound as at_bound,
)
from .combinators import (
    grouped as grouped,
    jump_to_bound as jump_to_bound,
    maximum as maximum,
    minimum as minimum,
    weighted_sum as weighted_sum,
)
