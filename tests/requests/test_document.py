"""Documents: the line of every key, and errors that name it."""

import pytest

from dpselect.errors import DataError, ParameterError
from dpselect.requests.document import Document

TEXT = '''\
# a comment with [brackets] and "quotes
ledger = "clinic#1.budget" # a comment

[data]
path = "stays.parquet"
where = [
  "year = 2024", # one
  "ward != ']'",
]

[[queries]]
query = "TopKeys"
note = """
[[queries]]
k = 7
"""
k = 1
mechanism = { name = "exponential", deep = [{ a = 1 }] }

[[queries]]
"query" = 'Keys'
unit.user = "a"

[queries.more]
x = 1

[columns."a.b"]
lower = 0
'''


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TEXT, encoding="utf-8")
    return Document.read(path)


LINES = {
    "ledger": 2, "data": 4, "data where": 6, "queries 0": 11, "queries 0 query": 12,
    "queries 0 k": 17, "queries 0 mechanism name": 18, "queries 1": 20, "queries 1 query": 21,
    "queries 1 unit user": 22, "queries 1 more x": 25, "columns a.b lower": 28,
    "queries 1 absent": 20, "absent": 1,
}  # fmt: skip


@pytest.mark.parametrize("keys", LINES)
def test_every_key_has_its_line(document, keys):
    path = tuple(int(key) if key.isdigit() else key for key in keys.split())

    assert document.line(path) == LINES[keys]


def test_an_error_names_the_file_and_the_line_of_what_it_is_about(document):
    with pytest.raises(ParameterError) as raised, document.naming("queries", 0):
        raise ParameterError("`k` must be at least 2")

    assert str(raised.value) == f"{document.path}:17: k must be at least 2"


def test_a_value_that_a_message_quotes_has_its_line_too(document):
    quoting, named = r"toml:12: there is no 'TopKeys'", document.naming("queries", 0)
    with pytest.raises(DataError, match=quoting), named:
        raise DataError("there is no 'TopKeys'")


def test_an_error_is_placed_once(document):
    outer, inner = document.naming(), document.naming("queries", 1)
    with pytest.raises(ParameterError), outer, inner:
        raise ParameterError("no")


def test_tables_of_a_program_have_no_lines():
    with pytest.raises(ParameterError, match=r"^no$"), Document({"a": 1}).naming("a"):
        raise ParameterError("no")


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = [1,,]\n", 2), ("a = 1\n\nb = ", 3), ("a = [1,\n\n", 3)]
)
def test_what_is_no_toml_is_one_line_with_its_number(tmp_path, text, line):
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ParameterError, match=rf"study\.toml:{line}:") as raised:
        Document.read(path)

    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_what_is_no_text_is_refused(tmp_path, content):
    path = tmp_path / "study.toml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(DataError):
        Document.read(path)
