from .assay import (
    Assay as Assay,
    outcomes as outcomes,
)
from .comparison import (
    DesignComparison as DesignComparison,
    Screening as Screening,
    SimulatedDesign as SimulatedDesign,
    compare_designs as compare_designs,
)
from .decoders import (
    Marginals as Marginals,
    belief_propagation as belief_propagation,
    comp as comp,
    dd as dd,
    integer_program as integer_program,
    scomp as scomp,
)
from .decoding_bounds import (
    decoding_error as decoding_error,
    positives_found as positives_found,
)
from .designs import (
    array_2d as array_2d,
    bernoulli as bernoulli,
    dorfman as dorfman,
    doubly_balanced as doubly_balanced,
    kautz_singleton as kautz_singleton,
    near_constant_column_weight as near_constant_column_weight,
)
from .outcome_privacy import (
    OutcomePrivacy as OutcomePrivacy,
    flip_delta as flip_delta,
    flip_epsilon as flip_epsilon,
    flip_for as flip_for,
)
from .pool_noise import (
    IndependentNoise as IndependentNoise,
    JointNoise as JointNoise,
    noise_of_replaced as noise_of_replaced,
)
from .private_outcomes import (
    PooledOutcomes as PooledOutcomes,
    ReplacedSamples as ReplacedSamples,
    Secret as Secret,
    SwappedPools as SwappedPools,
)
from .results import (
    Report as Report,
    Results as Results,
    decode as decode,
    read_results as read_results,
    read_retests as read_retests,
)
from .worksheet import (
    Worksheet as Worksheet,
)
