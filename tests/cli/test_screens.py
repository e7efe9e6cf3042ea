"""What commands print: the screens that are stored, which are read where they change."""

import pytest

from support.screens import SCREENS, again


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("path", SCREENS, ids=lambda path: path.stem)
def test_a_screen_is_as_it_is_stored(path):
    """``make screens`` writes them anew, for a diff to show what changed."""
    assert again(path) == path.read_text(encoding="utf-8")
