"""What all queries of trees share: their fields, how they are drawn, and the samplers."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np

from dpselect import validation
from dpselect.draws.exact.noisy_counts import check_scale, discrete_laplace, scale_for
from dpselect.errors import ParameterError
from dpselect.mechanisms import Mechanism
from dpselect.neighbours import Neighbours, NeighboursLike
from dpselect.objective import Objective
from dpselect.plan import SEQUENTIAL, ErrorBound, Plan, Spend
from dpselect.query import Claim, Columns, Design, Query, Released, query
from dpselect.release import Release
from dpselect.tables.people import changed_rows, people_cap
from dpselect.trees.counts import Counts
from dpselect.trees.criteria import MANY
from dpselect.trees.domains import Bins, Domain, DomainLike, Schema, as_domain
from dpselect.trees.records import Rows
from dpselect.typing import Indices, OnInvalid

Out = TypeVar("Out", bound=Release[Any])


class Sampler:
    """The two kinds of draws that trees are made of; exact, for releases."""

    def choose(self, mechanism: Mechanism, objective: Objective, k: int) -> list[int]:
        """Draw ``k`` positions without replacement."""
        return mechanism.draw_positions(objective, k)

    def count(self, counts: Sequence[int], epsilon: float) -> Indices:
        """Return counts that one record moves by 1 in all, with noise for ``epsilon``."""
        return discrete_laplace(np.asarray(counts, dtype=np.int64), scale_for(epsilon))


@dataclass(frozen=True, kw_only=True)
class Training(Design[Out]):
    """A release that is drawn from counts of records; its parameters are checked when made.

    Attributes:
        asked: The query. Its epsilon is the price for an individual of ``steps`` records.
        rows: How records are read.
        steps: How many records one neighbour step adds or removes.
    """

    asked: Any
    rows: Rows
    steps: int
    plan: Plan = field(init=False)

    def __post_init__(self) -> None:
        asked, spends, strict = self.asked, self.spends(), self.rows.on_invalid == "raise"
        relation = validation.table_neighbours(asked.neighbours)
        for spend in spends:
            # Noise that could meet the ends of 64-bit integers is refused.
            epsilon = spend.epsilon / self.steps
            check_scale(scale_for(epsilon) if epsilon > 0 else inf)
        public = ["columns and their domains", "classes", f"max_records = {asked.max_records}"]
        if relation is Neighbours.SUBSTITUTE:
            public.append(f"the number of {'records' if asked.user is None else 'persons'}")
        if strict:
            public.append("that no value is outside of its domain")
        plan = Plan(
            mechanism=self.label,
            spends=spends,
            epsilon=asked.epsilon,
            neighbours=relation,
            public=tuple(public),
            composition=asked.composition,
            error=self.error,
            passes=1 + strict + self.passes,
        )
        object.__setattr__(self, "plan", plan)

    @property
    def schema(self) -> Schema:
        """Columns, domains and classes."""
        return self.rows.schema

    @property
    @abstractmethod
    def label(self) -> str:
        """The mechanism, in words."""

    @property
    def error(self) -> ErrorBound | None:
        """A bound that holds on all data, if there is one."""
        return None

    @property
    @abstractmethod
    def passes(self) -> int:
        """The most queries that counting takes in an engine."""

    @abstractmethod
    def spends(self) -> tuple[Spend, ...]:
        """Return the prices of all that is drawn."""

    @abstractmethod
    def draw(self, counts: Counts, sampler: Sampler, plan: Plan) -> Out:
        """Draw, and return what may be published."""

    def prepare(self, data: object) -> Callable[[Plan], Out]:
        # The engine holds the records for the counts that follow what was drawn before.
        held = ExitStack()
        counts = held.enter_context(self.rows.counts(data, self.asked.max_records))

        def drawn(plan: Plan) -> Out:
            with held:
                return self.draw(counts, Sampler(), plan)

        return drawn


@query
class _RecordsQuery(Query[Out]):
    """A query of records with labels.

    Data are a table with the column ``label``: a frame, or the path of a Parquet or CSV file;
    or, without ``label``, the pair ``(X, y)`` of a frame or an array, whose columns are then
    called ``x0``, ``x1``, ..., and its labels. From a lazy frame (polars, DuckDB, PySpark) only
    counts leave the engine.

    Guarantee:
        ``epsilon``-DP under ``neighbours`` that differ in one record, or with ``user`` in all
        records of one person, among tables of at most ``max_records`` counted records; whether
        a larger table raises ``PublicClaimError`` is not protected. All fields are public, and
        so are the columns and their types; under substitution also the number of records, or of
        persons. Values outside the declared domains are repaired record by record: numbers are
        clamped; missing and unknown values become the domain's ``other``, or their record is
        dropped; records with a label that is not in ``classes`` are dropped.

    Attributes:
        domains: Public values of each column that is used. A mapping from names to ``Bins``,
            ``Categories``, lists of categories, or plain values as in a domains file. Not
            derived from the data.
        classes: The possible labels; at least two. Not derived from the data.
        max_records: Upper bound on the number of counted records; >= 2. Not derived from the
            data.
        label: Column of the labels.
        user: Column of the person that a record belongs to. Text, integers, booleans or
            dates; it has no domain. Records without a person are dropped.
        max_per_user: Maximal number of records counted per person. Which ones depends on that
            person's records alone (``dpselect.tables.people``).
        on_invalid: What happens to values outside their domain: ``"repair"`` or ``"raise"``.
            The latter is for curators who declare publicly that there are none.
        epsilon: Price of the release, in nats; finite, > 0.
        neighbours: ``"add-remove"`` or ``"substitute"``, of a record or of a person.
    """

    domains: Mapping[str, DomainLike]
    classes: Sequence[Hashable]
    max_records: Annotated[int, Claim(), MANY]
    label: str | None = None
    user: str | None = None
    max_per_user: int | None = None
    on_invalid: Annotated[OnInvalid, Claim("repair")] = "repair"
    epsilon: Annotated[float, validation.positive]
    neighbours: NeighboursLike

    composition: ClassVar[str] = SEQUENTIAL
    """Why the prices of the draws add up to the whole, in words."""

    training: ClassVar[type[Training[Any]]]
    """How the query is drawn."""

    def reads(self) -> Columns:
        label = (self.column_named("label"), Released(listed=tuple(self.classes)))
        columns = ((c, _released(as_domain(c, one))) for c, one in self.domains.items())
        return (*columns, label)

    def design(self) -> Training[Out]:
        users = people_cap(self.user, self.max_per_user)
        schema = Schema.of(self.domains, self.classes)
        for role, column in (("user", self.user), ("label", self.label)):
            if column is not None:
                validation.instance(role, column, str)
            if column in schema.names:
                raise ParameterError(
                    f"column {column!r} cannot be the `{role}` and be split on: give it "
                    "no domain"
                )
        relation = validation.table_neighbours(self.neighbours)
        return self.training(
            asked=self,
            rows=Rows(schema, self.label, users, self.on_invalid),
            steps=changed_rows(1 if users is None else users.most, relation),
        )


RecordsQuery = _RecordsQuery
"""What a query of records with labels is made of; it is none that can be asked itself."""


def _released(domain: Domain) -> Released:
    """Return what a tree may release of a column."""
    if isinstance(domain, Bins):
        return Released(low=domain.low, high=domain.high)
    return Released(listed=tuple(domain.values))
