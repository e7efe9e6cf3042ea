from dpselect_applications import (
    BestColumns as BestColumns,
    BestOf as BestOf,
    HeavyCells as HeavyCells,
    Hubs as Hubs,
    Levels as Levels,
    Search as Search,
    Series as Series,
    StableArgmax as StableArgmax,
    TopVariants as TopVariants,
    levels as levels,
    series as series,
    tuning as tuning,
    variants as variants,
)
from dpselect_planner import (
    Comparison as Comparison,
    compare as compare,
)

from . import (
    audit as audit,
    budget as budget,
    combine as combine,
    draws as draws,
    errors as errors,
    extend as extend,
    keys as keys,
    maps as maps,
    mechanisms as mechanisms,
    networks as networks,
    percentiles as percentiles,
    requests as requests,
    scaling as scaling,
    sensitivity as sensitivity,
    subsets as subsets,
    tables as tables,
    trees as trees,
)
from ._version import (
    __version__ as __version__,
)
from .budget import (
    Budget as Budget,
)
from .combine import (
    disjoint_sum as disjoint_sum,
    margin as margin,
    pareto as pareto,
    weighted_sum as weighted_sum,
)
from .keys import (
    Keys as Keys,
    TopKeys as TopKeys,
)
from .maps import (
    Map as Map,
)
from .mechanisms import (
    AboveThreshold as AboveThreshold,
    AnchoredLocalDampening as AnchoredLocalDampening,
    ExponentialMechanism as ExponentialMechanism,
    GeneralizedExponential as GeneralizedExponential,
    LocalDampening as LocalDampening,
    Mechanism as Mechanism,
    NoisySequence as NoisySequence,
    PairwiseLocalDampening as PairwiseLocalDampening,
    PermuteAndFlip as PermuteAndFlip,
    ReportNoisyMax as ReportNoisyMax,
    Selection as Selection,
    ShiftedLocalDampening as ShiftedLocalDampening,
)
from .neighbours import (
    Neighbours as Neighbours,
)
from .networks import (
    TopNodes as TopNodes,
)
from .objective import (
    Facts as Facts,
    Objective as Objective,
)
from .percentiles import (
    PercentileRecord as PercentileRecord,
    Percentiles as Percentiles,
)
from .plan import (
    ErrorBound as ErrorBound,
    Plan as Plan,
    Spend as Spend,
    sequential_plan as sequential_plan,
)
from .query import (
    Query as Query,
    run as run,
)
from .release import (
    Release as Release,
)
from .requests import (
    Policy as Policy,
    Request as Request,
)
from .sensitivity import (
    ElementSensitivity as ElementSensitivity,
    GlobalSensitivity as GlobalSensitivity,
    LocalSensitivity as LocalSensitivity,
    Sensitivity as Sensitivity,
    TabulatedSensitivity as TabulatedSensitivity,
)
from .subsets import (
    Subset as Subset,
)
from .trees import (
    ID3Tree as ID3Tree,
    TreeFront as TreeFront,
)
