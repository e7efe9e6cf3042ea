from .best import (
    BestOf as BestOf,
    best_probabilities as best_probabilities,
)
from .estimators import (
    PrivateClassifier as PrivateClassifier,
    PrivateSearchCV as PrivateSearchCV,
)
from .profiles import (
    Profile as Profile,
    profile_of_best as profile_of_best,
)
from .repetitions import (
    Geometric as Geometric,
    Logarithmic as Logarithmic,
    Poisson as Poisson,
    Repetitions as Repetitions,
    TruncatedNegativeBinomial as TruncatedNegativeBinomial,
    renyi_of_best as renyi_of_best,
)
from .search import (
    Search as Search,
    SearchRelease as SearchRelease,
)
from .stable import (
    StableArgmax as StableArgmax,
)
from .study import (
    PrivateStudy as PrivateStudy,
)
