"""Worksheets of pooled tests: CSV files for the collector and for the lab.

- The collector's: ``sample, plate, well, pool, pool_plate, pool_well``, one row for each
  sample in each pool.
- The collector's secrets: ``sample, plate, well``, the vials to replace by a known positive;
  ``pool, pool_plate, pool_well, exchange_for``, the pools to exchange for clean or
  contaminated ones. Only the owner can read them, and their names say that they are secret.
- The collector's pick list, for a person or a robot: ``from_plate, from_well, to_plate,
  to_well, sample, pool``, one transfer a row; and a view of all plates to print.
- The lab's: ``pool, pool_plate, pool_well`` and an empty ``result`` to fill in.

A sample is where the collector's file of samples says that it is; places are assigned only
where it states none.

All are written under other names first and renamed when all are complete, so that an
incomplete worksheet never appears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpselect.errors import DataError, ParameterError
from dpselect_pooling import designs, files
from dpselect_pooling.designs import Design
from dpselect_pooling.files import csv_text, read_csv
from dpselect_pooling.plates import PLATES, Place, place, plate_view
from dpselect_pooling.pool_noise import KEPT, States

COLLECTOR = "collector.csv"
LAB = "lab.csv"
PICKS = "collector-picks.csv"
PLATE_VIEW = "collector-plates.html"
SECRET = "SECRET-replace-these-vials.csv"  # noqa: S105 -- a file name
SECRET_POOLS = "SECRET-exchange-these-pools.csv"  # noqa: S105 -- a file name
FILES = (COLLECTOR, LAB, PICKS, PLATE_VIEW, SECRET, SECRET_POOLS)
EXCHANGED_FOR = ("clean", "contaminated")
"""By the state of a pool."""


@dataclass(frozen=True, slots=True, eq=False)
class Worksheet:
    """A design with a place for every sample and every pool.

    Attributes:
        samples: Names of the samples, one for each column of the design, all different.
        design: Shape ``(pools, people)``.
        wells: 96 or 384 on each plate.
        replaced: Positions of the vials to replace by a known positive; secret.
        states: 0 (clean), 1 (contaminated) or 2 (kept) of each pool; secret. All are kept if
            not given.
        places: Place of each sample; by default along rows, plate after plate.
    """

    samples: Sequence[str]
    design: Design
    wells: int = 96
    replaced: tuple[int, ...] = ()
    states: States = ()
    places: Sequence[Place] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "design", designs.checked(self.design))
        if self.wells not in PLATES:
            raise ParameterError(f"`wells` must be 96 or 384, got {self.wells!r}")
        if len(self.samples) != self.design.shape[1]:
            raise ParameterError("`samples` must be one name for each column of the design")
        if len(set(self.samples)) != len(self.samples) or "" in self.samples:
            raise DataError("names of samples must be all different, and none empty")
        if not set(self.replaced) <= set(range(len(self.samples))):
            raise ParameterError("`replaced` must hold positions of samples")
        if self.states and len(self.states) != len(self.design):
            raise ParameterError("`states` must be one for each pool")
        if self.places is not None and len(set(self.places)) != len(self.samples):
            raise ParameterError("`places` must be one for each sample, all different")

    def place_of(self, sample: int) -> Place:
        """Return where the sample at a position is."""
        return place(sample, self.wells) if self.places is None else self.places[sample]

    @property
    def pools(self) -> list[str]:
        """Names of the pools, in the order of the design's rows."""
        return [pool_name(t) for t in range(len(self.design))]

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write all files; those that are there already are never overwritten.

        Returns:
            The paths of the files: the collector's, the lab's, the pick list, the view of
            plates, and a secret one if vials are to be replaced or pools may be exchanged.

        Raises:
            DataError: The folder cannot be written to, or holds worksheets already.
        """
        where = Path(folder)
        contents = {
            COLLECTOR: self._collector(),
            LAB: self._lab(),
            PICKS: self._picks(),
            PLATE_VIEW: self._plates(),
        }
        if self.replaced:
            contents[SECRET] = self._secret()
        if self.states:
            contents[SECRET_POOLS] = self._secret_pools()
        self.refuse_if_written(where)
        try:
            where.mkdir(parents=True, exist_ok=True)
            files.write_together(
                {where / name: text for name, text in contents.items()},
                secret={where / SECRET, where / SECRET_POOLS},
            )
        except OSError as error:
            raise DataError(f"cannot write worksheets to {where}: {error.strerror}") from None
        return tuple(where / name for name in contents)

    def refuse_if_written(self, folder: str | Path) -> None:
        """Refuse a folder that holds worksheets, before a budget is charged."""
        where = Path(folder)
        if any((where / name).exists() for name in FILES):
            raise DataError(f"{where} holds worksheets already; give a folder of its own")

    def _collector(self) -> str:
        rows = []
        for i, sample in enumerate(self.samples):
            at = self.place_of(i)
            for t in np.flatnonzero(self.design[:, i]):
                to = place(int(t), self.wells)
                rows.append((sample, at.plate, at.well, pool_name(int(t)), to.plate, to.well))
        header = ("sample", "plate", "well", "pool", "pool_plate", "pool_well")
        return csv_text(header, rows)

    def _picks(self) -> str:
        header = ("from_plate", "from_well", "to_plate", "to_well", "sample", "pool")
        rows = []
        for i in sorted(range(len(self.samples)), key=self._order):
            at = self.place_of(i)
            for t in np.flatnonzero(self.design[:, i]):
                to, pool = place(int(t), self.wells), pool_name(int(t))
                rows.append((at.plate, at.well, to.plate, to.well, self.samples[i], pool))
        return csv_text(header, rows)

    def _order(self, sample: int) -> tuple[str, int, str]:
        at = self.place_of(sample)
        # Plates by number where they are numbers, and by name where not.
        number = at.plate if isinstance(at.plate, int) else -1
        return ("" if number >= 0 else str(at.plate), number, at.well)

    def _plates(self) -> str:
        samples = {self.place_of(i): name for i, name in enumerate(self.samples)}
        pools = {place(t, self.wells): name for t, name in enumerate(self.pools)}
        return plate_view("Plates", {"Samples": samples, "Pools": pools}, self.wells)

    def _lab(self) -> str:
        places = [(name, place(t, self.wells)) for t, name in enumerate(self.pools)]
        rows = [(name, at.plate, at.well, "") for name, at in places]
        return csv_text(("pool", "pool_plate", "pool_well", "result"), rows)

    def _secret(self) -> str:
        places = [(self.samples[i], self.place_of(i)) for i in sorted(self.replaced)]
        return csv_text(
            ("sample", "plate", "well"), [(s, at.plate, at.well) for s, at in places]
        )

    def _secret_pools(self) -> str:
        rows = []
        for t, (name, state) in enumerate(zip(self.pools, self.states, strict=True)):
            if state != KEPT:
                at = place(t, self.wells)
                rows.append((name, at.plate, at.well, EXCHANGED_FOR[state]))
        return csv_text(("pool", "pool_plate", "pool_well", "exchange_for"), rows)


def pool_name(position: int) -> str:
    """Return the name of the pool in a row of the design."""
    return f"P{position + 1:04d}"


def read_collector(path: str | Path) -> tuple[list[str], Design]:
    """Return the samples and the design that a collector's file states.

    Raises:
        DataError: It is not such a file.
    """
    rows = read_csv(path, ("sample", "pool"))
    samples = list(dict.fromkeys(row["sample"] for row in rows))
    pools = sorted({row["pool"] for row in rows}, key=lambda name: (len(name), name))
    if not samples or "" in samples or "" in pools:
        raise DataError(f"{path} must name a sample and a pool in every row")
    numbers = [int(pool[1:]) if pool[1:].isdigit() else -1 for pool in pools]
    if pools != [pool_name(t - 1) for t in numbers] or min(numbers) < 1:
        raise DataError(f"{path}: pools must be named P0001, P0002 and so on")
    design = designs.checked(np.zeros((max(numbers), len(samples)), dtype=np.bool_))
    at = {sample: i for i, sample in enumerate(samples)}
    for row in rows:
        design[int(row["pool"][1:]) - 1, at[row["sample"]]] = True
    return samples, design


def read_samples(path: str | Path) -> list[str]:
    """Return the names in the ``sample`` column of a CSV file."""
    return [row["sample"] for row in read_csv(path, ("sample",))]


def read_secret(path: str | Path) -> tuple[list[str], list[str]]:
    """Return the samples that a secret file says are replaced, and the pools exchanged.

    Raises:
        DataError: It is neither kind of secret file.
    """
    try:
        return read_samples(path), []
    except DataError:
        return [], [row["pool"] for row in read_csv(path, ("pool", "exchange_for"))]
