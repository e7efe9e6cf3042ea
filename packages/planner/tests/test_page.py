"""The page: one small file that asks nothing of anybody."""

import base64
import hashlib
import re

import dpselect_planner as planner
from dpselect_planner import assembly


def test_it_is_small():
    assert len(planner.page().encode("utf-8")) <= 200_000


def test_its_only_addresses_are_names():
    """The namespace of SVG is a name that no browser fetches."""
    assert set(re.findall(r"\b\w+://[^\s\"'`]+", planner.page())) == {
        "http://www.w3.org/2000/svg"
    }


def test_its_policy_allows_its_own_script_and_style_and_nothing_else():
    page = planner.page()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        [content] = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode()
        assert allowed.pop(kind) == f"'sha256-{digest}'"

    assert allowed == dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")
    assert not re.search(r"\sstyle=|\son\w+=", page), "a policy by hashes forbids these"


def test_every_module_is_in_the_page_once_after_those_it_imports():
    sources = {
        path.relative_to(assembly.SOURCES).as_posix() for path in assembly.SOURCES.rglob("*.js")
    }
    ordered = list(assembly.modules("main.js"))

    assert sorted(ordered) == sorted(sources)
    for place, name in enumerate(ordered):
        for found in assembly.IMPORT.finditer((assembly.SOURCES / name).read_text("utf-8")):
            imported = assembly.resolved(name, found[2] + found[3])
            assert imported in ordered[:place]
