"""Laws of the number of private runs."""

from dpselect_applications.tuning import (
    Geometric,
    Logarithmic,
    Poisson,
    TruncatedNegativeBinomial,
)

LAWS = [
    Geometric(mean=1),
    Geometric(mean=4),
    Logarithmic(mean=3),
    TruncatedNegativeBinomial(mean=2.5, shape=-0.5),
    TruncatedNegativeBinomial(mean=6, shape=2.5),
    Poisson(mean=0.5),
    Poisson(mean=3),
]
