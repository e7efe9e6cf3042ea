"""Optional packages: a missing one is one line that names the extra."""

import math
import sys

import pytest

from dpselect import _optional
from dpselect.errors import MissingDependencyError


def test_an_installed_module_is_returned():
    assert _optional.needed("math", extra="standard") is math


@pytest.mark.parametrize("module", ["polars", "polars.selectors"])
def test_a_missing_package_is_named_with_its_extra(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(MissingDependencyError, match=r"needs polars, .*'dpselect\[standard\]'"):
        _optional.needed(module, extra="standard")


def test_an_installed_package_without_its_own_dependency_says_so(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import not_there_at_all\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ModuleNotFoundError, match="not_there_at_all") as raised:
        _optional.needed("broken_package", extra="standard")

    assert not isinstance(raised.value, MissingDependencyError)
