from .base import (
    Interval as Interval,
    Sensitivity as Sensitivity,
)
from .combinators import (
    floored as floored,
    grouped as grouped,
    jump_to_bound as jump_to_bound,
    maximum as maximum,
    minimum as minimum,
    weighted_sum as weighted_sum,
)
from .given import (
    ElementSensitivity as ElementSensitivity,
    GlobalSensitivity as GlobalSensitivity,
    LocalSensitivity as LocalSensitivity,
    TabulatedSensitivity as TabulatedSensitivity,
    at_bound as at_bound,
)
