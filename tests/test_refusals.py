"""What is refused in each room: the type of the error, and the argument that it names."""

import re
from importlib import import_module
from itertools import chain
from pathlib import Path

import pytest

from support.packages import brought

ROOMS = sorted(one.stem for one in Path(__file__).with_name("refusals").glob("[a-z]*.py"))
EVERY = {room: import_module(f"refusals.{room}") for room in ROOMS}
EVERY |= {one.__name__: one for one in brought("refusals").values()}
ROWS = {
    f"{room} {number}: {row.name}": row
    for room, module in EVERY.items()
    for number, row in enumerate(chain(*module.ROWS), 1)
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_it_is_refused(row):
    """What rows hold, as "secret" or 77, is in no message."""
    with pytest.raises(row.error) as caught:
        row.make()

    said, text = row.said, str(caught.value)
    assert said in text if " " in said else not said or said in caught.value.arguments
    assert not re.search(r"secret|\b77\b", text)
