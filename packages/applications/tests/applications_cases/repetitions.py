"""Laws of the number of private runs."""

from dpselect_applications import tuning

LAWS = [
    tuning.Geometric(mean=1),
    tuning.Geometric(mean=4),
    tuning.Logarithmic(mean=3),
    tuning.TruncatedNegativeBinomial(mean=2.5, shape=-0.5),
    tuning.TruncatedNegativeBinomial(mean=6, shape=2.5),
    tuning.Poisson(mean=0.5),
    tuning.Poisson(mean=3),
]
