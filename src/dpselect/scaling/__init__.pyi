from .dampening import (
    anchored as anchored,
    dampened as dampened,
    shifted as shifted,
)
from .dividing import by_global as by_global
from .pairs import generalized as generalized, pairwise as pairwise
