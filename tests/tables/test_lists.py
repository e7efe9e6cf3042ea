"""Public lists and documents, as editors of all systems write them."""

import codecs
import json

import pytest

from dpselect.errors import DataError
from dpselect.requests.document import Document
from dpselect.tables.lists import lines_of, listed_in
from dpselect.trees.domains import read_domains
from support.refusals import refused

VALUES = ["Müller", "Möller", "a b"]
WRITTEN = {
    "Unix": "Müller\nMöller\na b\n".encode(),
    "Notepad": "Müller\r\nMöller\r\na b".encode("utf-8-sig"),
    "an old Mac": "Müller\rMöller\ra b\r".encode(),
    "blanks": " Müller \n\n\tMöller\n   \na b  \n".encode(),
}


@pytest.mark.parametrize("held", WRITTEN.values(), ids=WRITTEN)
def test_a_list_is_the_same_whatever_editor_wrote_it(tmp_path, held):
    path = tmp_path / "names.txt"
    path.write_bytes(held)

    assert lines_of(path) == listed_in("groups", str(path)) == VALUES


def test_marks_of_a_spreadsheet_are_no_part_of_a_value(tmp_path):
    sheet, text = tmp_path / "names.csv", tmp_path / "names.txt"
    for path in (sheet, text):
        path.write_text('"a,b"\nc\n"say ""d"""\n"a" or "b"\n')

    assert lines_of(sheet) == ["a,b", "c", 'say "d"', '"a" or "b"']
    assert lines_of(text) == ['"a,b"', "c", '"say ""d"""', '"a" or "b"']


def test_a_list_can_be_typed_also_of_one_value():
    assert listed_in("groups", "a, b c,d") == ["a", "b c", "d"]
    assert listed_in("groups", "Müller,") == ["Müller"]
    many = [f"ward {k}" for k in range(2000)]  # longer than the name of any file
    assert listed_in("groups", ",".join(many)) == many
    with refused("groups", error=DataError):
        listed_in("groups", "Müller")


@pytest.mark.parametrize(
    "held",
    ["Müller".encode("latin-1"), codecs.BOM_UTF16_LE + "Müller".encode("utf-16-le")],
)
def test_another_encoding_is_named(tmp_path, held):
    path = tmp_path / "names.txt"
    path.write_bytes(held)

    with pytest.raises(DataError):
        lines_of(path)


def test_documents_have_byte_order_marks_and_line_ends_of_windows(tmp_path):
    request, domains = tmp_path / "request.toml", tmp_path / "domains.json"
    request.write_bytes(codecs.BOM_UTF8 + b'ledger = "a"\r\n[data]\r\npath = "b.csv"\r\n')
    stated = {"label": "y", "classes": ["a"], "max_records": 9}
    columns = {"columns": {"x": {"values": ["a", "b"]}}}
    domains.write_bytes(codecs.BOM_UTF8 + json.dumps({**stated, **columns}, indent=1).encode())

    assert Document.read(request).values == {"ledger": "a", "data": {"path": "b.csv"}}
    assert read_domains(domains)["label"] == "y"
