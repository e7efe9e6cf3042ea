import pytest

import dpselect as dp
from dpselect.errors import ParameterError
from dpselect.mechanisms import by_name


def test_public_arguments_reach_the_mechanism():
    assert by_name("anchored", 2.0, anchor=3.0) == dp.AnchoredLocalDampening(
        epsilon=2.0, anchor=3.0
    )
    assert by_name("shifted", 2.0, direction="non-increasing") == dp.ShiftedLocalDampening(
        epsilon=2.0, direction="non-increasing"
    )


@pytest.mark.parametrize("name", ["anchored", "shifted", "median"])
def test_a_mechanism_that_lacks_its_argument_is_not_among_the_choices(name):
    with pytest.raises(ParameterError, match=f"mechanism must be one of .*, not '{name}'"):
        by_name(name, 2.0)
