from dpselect_applications import (
    BestColumns as BestColumns,
    PrivateSelectKBest as PrivateSelectKBest,
)

from .criteria import (
    InformationGainSensitivity as InformationGainSensitivity,
)
from .domains import (
    Bins as Bins,
    Categories as Categories,
    domains_template as domains_template,
    read_domains as read_domains,
)
from .estimators import (
    ID3Classifier as ID3Classifier,
    MultiObjectiveTreeClassifier as MultiObjectiveTreeClassifier,
    expected_failed_checks as expected_failed_checks,
)
from .front import (
    FrontRelease as FrontRelease,
    FrontTree as FrontTree,
    TreeFront as TreeFront,
    dp_moet as dp_moet,
)
from .id3 import (
    ID3Tree as ID3Tree,
)
from .rates import (
    WeightedRatesSensitivity as WeightedRatesSensitivity,
    rate_over as rate_over,
    true_positive_rate as true_positive_rate,
)
from .tree import (
    Leaf as Leaf,
    Split as Split,
    Tree as Tree,
    TreeRelease as TreeRelease,
)
