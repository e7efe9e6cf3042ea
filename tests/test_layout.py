"""The architecture: one door, lazy imports, public names; `make style` checks imports."""

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from importlib import import_module

import pytest

import dpselect as dp
from dpselect import extend
from support.house import pages
from support.public import ROOMS, SOURCE, every_name

HEAVY = {"matplotlib", "numba", "opendp", "pandas", "polars", "rich", "scipy", "sklearn"}
HEAVY |= {"networkx", "pyspark", "typer"}
FILES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    ): path
    for path in sorted(SOURCE.rglob("*.py"))
}
every_room = pytest.mark.parametrize("room", ROOMS)


@cache
def tree(module):
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def statements(node):
    """Yield all statements that run: not the imports that only type checkers read."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):
            yield from statements(child)


@cache
def imports(module):
    """Return every (module, name) imported at the top or inside a function; name may be ""."""
    pairs = []
    for node in statements(tree(module)):
        if isinstance(node, ast.Import):
            pairs += [(alias.name, "") for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            pairs += [(node.module, alias.name) for alias in node.names]
    return pairs


def who_imports(*wanted):
    """Return the modules that import one of some top-level packages or dotted names."""
    found = set()
    for module in FILES:
        for where, name in imports(module):
            if {where.split(".")[0], where, f"{where}.{name}"} & set(wanted):
                found.add(module)
    return found


def test_randomness_has_one_source():
    assert who_imports("secrets", "random", "os.urandom") == {"dpselect.draws.exact.samplers"}


def test_compilation_and_threads_have_one_place():
    assert who_imports("numba.njit", "numba.jit") == {"dpselect._compiled"}
    assert who_imports("concurrent", "multiprocessing") <= {"dpselect._compiled"}


def who_calls(method, *options):
    """Return the modules that call what has a name with some options; not an overridden one."""
    return {
        module
        for module in FILES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rsplit(".", maxsplit=1)[-1] == method
        and {option.arg for option in node.keywords} >= set(options)
        and not ast.unparse(node.func).startswith("super()")
    }


def test_only_plans_spend_and_only_queries_charge_them():
    assert who_calls("spend", "neighbours") == set()
    # A spend that a caller states is one that is reserved and charged at once.
    assert who_calls("reserve") == {
        "dpselect.plan",
        "dpselect.budget.accountant",
        "dpselect.query",
    }
    assert who_calls("recorded") == {"dpselect.query"}
    assert "dpselect.plan" in who_calls("refund")


def run_alone(program):
    """Return what a program prints in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


AFRESH = """
import importlib, sys
def forget():
    for name in [name for name in sys.modules if name.split(".")[0] == "dpselect"]:
        del sys.modules[name]
"""


def test_importing_a_room_imports_nothing_heavy():
    program = f"""
for room in {["", *ROOMS]!r}:
    forget()
    importlib.import_module(f"dpselect.{{room}}".rstrip("."))
    print(room, *({HEAVY!r} & set(sys.modules)), sep=" ")
"""

    assert [line.split() for line in run_alone(AFRESH + program).splitlines()] == [
        [],
        *([room] for room in ROOMS),
    ]


def test_budgets_start_without_numpy():
    loaded = run_alone("from dpselect.budget import Budget; import sys; print(*sys.modules)")

    assert "numpy" not in loaded.split()


def test_every_room_is_reachable():
    found = [getattr(dp, name) for name in dp.__all__]
    listed = [one.__name__ for one in found if inspect.ismodule(one)]

    ours = {name for name in listed if name.startswith("dpselect.")}
    assert ours == {f"dpselect.{room}" for room in (*ROOMS, "extend")}


@pytest.mark.slow
def test_every_public_name_is_the_first_that_may_be_asked_for():
    program = f"""
for name in {dp.__all__!r}:
    forget()
    assert getattr(importlib.import_module("dpselect"), name) is not None, name
    print(name)
"""

    assert run_alone(AFRESH + program).split() == list(dp.__all__)


def test_dir_lists_the_public_names():
    assert dir(dp) == sorted(dp.__all__)


@every_room
def test_dir_of_a_room_lists_its_public_names(room):
    found = getattr(dp, room)

    assert [name for name in dir(found) if not name.startswith("_")] == sorted(found.__all__)
    assert all(getattr(found, name) is not None for name in found.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="select"):
        _ = dp.select


STUBS = {path.parent: path for path in sorted(SOURCE.rglob("__init__.pyi"))}


@pytest.mark.parametrize("folder", STUBS, ids=lambda folder: folder.name)
def test_lazy_names_are_listed_once_in_a_stub(folder):
    """What completion and type checkers read is what is imported when it is asked for."""
    package = ".".join(folder.relative_to(SOURCE.parent).parts)
    stub = ast.parse(STUBS[folder].read_text(encoding="utf-8"))
    listed = [alias.asname for node in stub.body for alias in node.names]

    assert sorted(listed) == sorted(import_module(package).__all__)
    assert who_imports("dpselect._optional") >= {package}
    assert {where for where, _ in imports(package)} == {"dpselect._optional"}
    assert (SOURCE / "py.typed").exists()


def test_there_is_no_other_way_to_import_lazily():
    with_getattr = {
        module
        for module in FILES
        for node in tree(module).body
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
    }

    assert SOURCE in STUBS
    assert with_getattr == set()


def listed_in_the_reference():
    """Return the modules that the pages of the reference list, one page for each room."""
    found = pages()
    assert "reference.md" not in found, "list modules in docs/reference/ROOM.md"
    text = "\n".join(page.read_text(encoding="utf-8") for page in found.values())
    return set(re.findall(r"^::: (\S+)", text, re.MULTILINE))


def test_the_reference_has_every_public_class_and_function():
    """And all that a package may import."""
    listed = listed_in_the_reference()
    door = {name: getattr(extend, name) for name in extend.__all__}
    missing = [
        name
        for name, found in (every_name() | door).items()
        if (inspect.isclass(found) or inspect.isfunction(found))
        and not {f"dpselect.{name}", *with_packages(found.__module__)} & listed
    ]

    assert not missing


def with_packages(module):
    """Return a module and the rooms that it is in; a room is listed with all that it offers."""
    parts = module.split(".")
    return {".".join(parts[:length]) for length in range(2, len(parts) + 1)}


def test_the_reference_lists_only_modules_that_exist():
    ours = [
        module for module in listed_in_the_reference() if module.split(".")[0] == "dpselect"
    ]
    assert [module for module in ours if module not in FILES] == []
