"""Documents: the lines of tables and their keys, and errors that name them."""

import pytest

from dpselect.errors import DataError, ParameterError
from dpselect.requests.document import Document

TEXT = """\
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
k = 1
mechanism = { name = "exponential", deep = [{ a = 1 }] }

[[queries]]
"query" = 'Keys'
unit.user = "a"

[queries.more]
x = 1
"""


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(TEXT, encoding="utf-8")
    return Document.read(path)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("data",), "4:"),
        (("queries", 0), "13:"),
        (("queries", 1), "16:"),
        (("queries", "more"), "20:"),
        (("queries", 2), "13:"),
        (("data", "where"), "6:"),
        (("ledger",), "2:"),
        (("data", "absent"), "4:"),
        (("absent",), ""),
        ((), ""),
    ],
)
def test_an_error_names_the_file_and_the_line_of_a_key_or_its_table(document, keys, line):
    """Once, also within another table."""
    outer, inner = document.naming("data"), document.naming(*keys)
    with pytest.raises(ParameterError) as raised, outer, inner:
        raise ParameterError("`k` must be at least 2")

    assert str(raised.value) == f"{document.path}:{line} k must be at least 2"


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
