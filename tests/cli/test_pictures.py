"""Pictures that commands draw."""

import pytest

from support.commands import EXAMPLES, written

DRAWN = {
    "map": (),
    "tree": (),
    "trees-front": ("--weights", "3,2"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn(run, tmp_path, name):
    picture, example = tmp_path / "p.png", EXAMPLES[name]
    ran = run(*example.line(written(tmp_path), *DRAWN[name], "--plot", picture))

    assert ran.code == 0, ran.error
    assert picture.stat().st_size > 1000
