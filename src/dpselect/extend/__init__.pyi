from dpselect import (
    validation as validation,
)
from dpselect._compiled import (
    compiled as compiled,
)
from dpselect._numbers import (
    LARGEST_EXPONENT as LARGEST_EXPONENT,
    boundary as boundary,
)
from dpselect._optional import (
    attach as attach,
    needed as needed,
    new_axes as new_axes,
)
from dpselect._twofold import (
    Twofold as Twofold,
    difference as difference,
)
from dpselect.budget import (
    zcdp as zcdp,
)
from dpselect.budget.entry import (
    source_name as source_name,
)
from dpselect.budget.ledger import (
    connected as connected,
    not_ours as not_ours,
)
from dpselect.budget.left_out import (
    WithoutBudget as WithoutBudget,
)
from dpselect.budget.store import (
    Decide as Decide,
    Entries as Entries,
    Memory as Memory,
    PaidOnce as PaidOnce,
)
from dpselect.budget.zcdp import (
    SLACK as SLACK,
    delta_of as delta_of,
    delta_of_gaussian as delta_of_gaussian,
    epsilon_of as epsilon_of,
    rho_for as rho_for,
    rho_of_pure as rho_of_pure,
)
from dpselect.cli import (
    options as options,
    output as output,
)
from dpselect.cli.command import (
    Given as Given,
    Option as Option,
    QueryCommand as QueryCommand,
)
from dpselect.cli.commands import (
    Command as Command,
)
from dpselect.cli.help import (
    command as command,
)
from dpselect.cli.releases import (
    OfNodes as OfNodes,
    values_of as values_of,
)
from dpselect.combine.fronts.dominance import (
    Dominance as Dominance,
)
from dpselect.draws import (
    above_threshold as above_threshold,
)
from dpselect.draws.exact import (
    bernoulli as bernoulli,
    inversion as inversion,
    noisy_counts as noisy_counts,
    uniform as uniform,
)
from dpselect.draws.exact.bernoulli import (
    BITS as BITS,
    OptimalChances as OptimalChances,
)
from dpselect.draws.exact.inversion import (
    Weights as Weights,
    exp_minus as exp_minus,
)
from dpselect.draws.exact.noisy_counts import (
    LARGEST_SCALE as LARGEST_SCALE,
    check_scale as check_scale,
    discrete_laplace as discrete_laplace,
    scale_for as scale_for,
)
from dpselect.draws.exact.samplers import (
    LOSSES as LOSSES,
    SCOPES as SCOPES,
    Loss as Loss,
    drawing as drawing,
    intercepted as intercepted,
    name_of as name_of,
    sampler as sampler,
    scope as scope,
    secret as secret,
)
from dpselect.draws.grid import (
    SENSITIVITY as SENSITIVITY,
    to_grid as to_grid,
)
from dpselect.draws.sequence import (
    DiscreteGaussian as DiscreteGaussian,
    DiscreteLaplace as DiscreteLaplace,
    among_the_first as among_the_first,
    largest as largest,
)
from dpselect.draws.subset_distance import (
    DistanceDistribution as DistanceDistribution,
)
from dpselect.keys.keys import (
    groups_first as groups_first,
)
from dpselect.keys.release import (
    LIFTED as LIFTED,
    ReleaseByGroup as ReleaseByGroup,
)
from dpselect.keys.rows import (
    KeyRows as KeyRows,
    kind_in as kind_in,
)
from dpselect.maps.box import (
    Box as Box,
    Outside as Outside,
)
from dpselect.maps.engine import (
    in_cells_of_groups as in_cells_of_groups,
    inside as inside,
)
from dpselect.maps.points import (
    PointRows as PointRows,
    columns_of_points as columns_of_points,
)
from dpselect.mechanisms.base import (
    Drawn as Drawn,
    as_step as as_step,
    checked_k as checked_k,
    with_any_option as with_any_option,
)
from dpselect.mechanisms.sequence import (
    gaussian_scale as gaussian_scale,
    laplace_rho as laplace_rho,
)
from dpselect.neighbours import (
    NeighboursLike as NeighboursLike,
)
from dpselect.networks.edge_queries import (
    Nodes as Nodes,
    reads as reads,
)
from dpselect.networks.edge_table import (
    NodeRows as NodeRows,
)
from dpselect.networks.metrics import (
    of_persons as of_persons,
)
from dpselect.objective import (
    exact_scores as exact_scores,
)
from dpselect.passes import (
    replaced as replaced,
    stated_rows as stated_rows,
)
from dpselect.percentiles.candidates import (
    Range as Range,
    places_of as places_of,
)
from dpselect.percentiles.objectives import (
    by_rank as by_rank,
)
from dpselect.percentiles.reading import (
    counts_at as counts_at,
)
from dpselect.plan import (
    ROUNDING as ROUNDING,
    Receipt as Receipt,
    SupportsSpend as SupportsSpend,
    plan_of as plan_of,
)
from dpselect.query import (
    ANYTHING as ANYTHING,
    NOTHING as NOTHING,
    Claim as Claim,
    Columns as Columns,
    Design as Design,
    Released as Released,
    query as query,
)
from dpselect.tables import (
    values as values,
)
from dpselect.tables.groups import (
    GroupedDesign as GroupedDesign,
    Groups as Groups,
)
from dpselect.tables.lists import (
    text_of as text_of,
)
from dpselect.tables.people import (
    changed_rows as changed_rows,
)
from dpselect.tables.values import (
    ColumnValues as ColumnValues,
    of_objects as of_objects,
    width as width,
)
from dpselect.trees.base import (
    RecordsQuery as RecordsQuery,
    Sampler as Sampler,
    Training as Training,
)
from dpselect.trees.counts import (
    Counts as Counts,
    level_passes as level_passes,
)
from dpselect.trees.criteria import (
    Criterion as Criterion,
    objective_of as objective_of,
)
from dpselect.trees.estimators import (
    PrivateEstimator as PrivateEstimator,
)
from dpselect.trees.id3 import (
    drawn_by as drawn_by,
)
from dpselect.typing import (
    Indices as Indices,
    OnInvalid as OnInvalid,
    Probabilities as Probabilities,
    Scores as Scores,
    Values as Values,
)
from dpselect.writing import (
    Card as Card,
    lines as lines,
    readable as readable,
)
