from .assembly import (
    page as page,
)
from .comparison import (
    Comparison as Comparison,
    compare as compare,
    coverage as coverage,
)
from .questions import (
    BestScore as BestScore,
    Keys as Keys,
    MostCommon as MostCommon,
    Outcome as Outcome,
    Percentile as Percentile,
    Question as Question,
    Response as Response,
    Subset as Subset,
)
from .risk import (
    Risk as Risk,
    risk_of as risk_of,
)
from .shapes import (
    equally_spaced as equally_spaced,
    leading_counts as leading_counts,
    spread as spread,
)
from .solving import (
    best_mechanism as best_mechanism,
    epsilon_for as epsilon_for,
    people_for as people_for,
)
from .subset_bounds import (
    theorem_1_lower as theorem_1_lower,
    theorem_1_upper as theorem_1_upper,
    theorem_2_lower as theorem_2_lower,
    theorem_2_upper as theorem_2_upper,
)
