from .base import (
    Draw as Draw,
)
from .noisy_max import (
    Exponential as Exponential,
    LaplaceNoisyMax as LaplaceNoisyMax,
    PermuteAndFlip as PermuteAndFlip,
)
