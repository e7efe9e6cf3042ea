"""Places of numbers among listed ones, as a dictionary of Python finds them."""

import numpy as np
import pytest

from dpselect.tables.values import places_of


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "?", "f2", "f4", "f8"])
@pytest.mark.parametrize(
    "listed",
    [
        *([1, 0], [True, 2, 1.5], ["1", 3, None, (1,)], [2**63, 2**63 + 7, -(2**63)]),
        *([-128, 127], [255.0, 0], [-(2**63), 5], [2**53 + 1, 2**53], [float("inf"), 300]),
    ],
    ids=str,
)
def test_numbers_have_the_places_that_python_finds(dtype, listed):
    kind = np.dtype(dtype)
    values = np.arange(6).astype(kind)
    if kind.kind in "iu":
        values = np.append(values, np.array([np.iinfo(kind).min, np.iinfo(kind).max], kind))
    if kind.kind == "f":
        values = np.append(values, np.array([np.nan, np.inf, -0.0, 1.5, 255], kind))
    place = {one: at for at, one in enumerate(listed)}

    expected = [place.get(one, -1) for one in values.tolist()]
    assert places_of(values, listed).tolist() == expected
