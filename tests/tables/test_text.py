"""Text files: fields by the rule, one record and its characters at a time."""

import csv
import gzip
import io
from codecs import BOM_UTF16_LE
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from dpselect import tables
from dpselect.errors import DataError
from dpselect.tables import text
from dpselect.tables.dialect import Dialect
from support.odd_records import examples
from support.refusals import refused

TOKENS = (
    *(b"a", b"b", b",", b",", b"\n", b"\n", b'"', b'"', b"\r", b"\r\n", b"\0", b"\xff"),
    *(b"\xc3\xa9", b" ", b"#", b'""', b',"', b'",', b'"\n'),
)
bodies = st.lists(st.sampled_from(TOKENS), max_size=40).map(b"".join)


def by_the_rule(body, *, quote, comment):
    """Return the rows of the bytes after a header, None for a file that contradicts itself."""
    rows, at, size = [], 0, len(body)
    while at < size:
        if comment and body.startswith(comment, at):
            at = body.find(b"\n", at) + 1 or size
            continue
        row, more = [], True
        while more:
            value = b""
            if quote and body.startswith(quote, at):
                at += 1
                while body[at : at + 1] != quote or body[at + 1 : at + 2] == quote:
                    if at >= size:
                        return None
                    at += 2 if body[at : at + 1] == quote else 1
                    value += body[at - 1 : at]
                at += 1
                at += body[at : at + 2] == b"\r\n" or body[at:] == b"\r"
                if body[at : at + 1] not in {b",", b"\n", b""}:
                    return None
            else:
                while body[at : at + 1] not in {b",", b"\n", b""}:
                    value += body[at : at + 1]
                    at += 1
            row.append(value)
            more = body[at : at + 1] == b","
            at += 1
        rows.append(row)
    # Nobody knows which of too many fields has no name.
    known = [[] if any(fields[3:4]) else fields[:3] for fields in rows]
    return [(*fields, *[b""] * (3 - len(fields))) for fields in known]


def plain(rows):
    """Return fields as texts, without the carriage returns at their ends, None if empty."""
    decoded = ((one.decode(errors="replace") for one in row) for row in rows)
    return [tuple(one.rstrip("\r") or None for one in row) for row in decoded]


def read(path, **stated):
    dialect = Dialect(strip=False, **stated).whole(".csv")
    rows = text.scan_text([path], dialect).collect().rows()
    return [tuple((one or "").rstrip("\r") or None for one in row) for row in rows]


@pytest.mark.parametrize("block", [7, 64, text.BLOCK])
@given(
    body=bodies,
    quote=st.sampled_from(["none", '"']),
    comment=st.sampled_from([None, "#", "#a"]),
)
@example(b'"a"\r,b\n', '"', None)
@example(b'a,"b\nb","\n"\n', '"', None)
@example(b'"\n#x",b\n', '"', "#")
@example(b'a#",\n#\n', '"', "#")
@example(b"#a\n#b,c\n", "none", "#a")
@examples
def test_fields_are_those_of_the_rule(tmp_path_factory, block, body, quote, comment):
    path = tmp_path_factory.mktemp("text") / "rows.csv"
    path.write_bytes(b"x,y,z\n" + body)
    mark = b"" if quote == "none" else quote.encode()
    expected = by_the_rule(body, quote=mark, comment=(comment or "").encode())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        if expected is None:
            with refused("quote", error=DataError):
                tables.numeric_column(tables.Source(path, comment=comment), "x")
        else:
            assert read(path, quote=quote, comment=comment) == plain(expected)


@pytest.mark.parametrize(
    ("more", "kept", "is_edited"),
    [
        (b"", 0, False),
        (b'"b\n', 0, False),
        (b'6" pipe\n"b\n', 8, True),
        (b'"a"\rb\n', None, True),
        (b'"a"b\n', None, True),
        (b'"' + b"a\n" * 150 + b'"\n', 303, True),
    ],
)
def test_whole_records_end_wherever_quotations_stand(monkeypatch, more, kept, is_edited):
    """Across words of bits, and parts of a block, the next of which begins with a record."""
    monkeypatch.setattr(text, "PART", 256)
    if not is_edited:
        monkeypatch.setattr(text, "_edited", None)
    for size in range(130):
        whole = b"0,1\n" + 3 * (b"a" * size + b',b\n"a,""\n",b,"c"\r\n"",e,"f"\n')
        found = text._records(Dialect().whole(".csv"), whole + more, 4)
        assert found[2] == (-1 if kept is None else len(whole) + kept)


record_of = st.lists(bodies, min_size=3, max_size=3)


@pytest.mark.parametrize("header", [True, ["x", "y", "z"]])
@pytest.mark.parametrize("quote", ['"', "none"])
@given(st.lists(record_of, max_size=6), record_of, st.integers(0, 6))
@example([[b"a"] * 3], [BOM_UTF16_LE] * 3, 0)
@examples
def test_a_record_changes_no_other(tmp_path_factory, header, quote, others, record, place):
    """That of a writer who closes marks; without quotation any line."""
    folder, place = tmp_path_factory.mktemp("text"), min(place, len(others))

    def gained(rows):
        path, buffer = folder / "rows.csv", io.StringIO()
        marked = [[one.decode(errors="surrogateescape") for one in row] for row in rows]
        csv.writer(buffer, lineterminator="\n").writerows(marked)
        written = buffer.getvalue().encode(errors="surrogateescape")
        if quote == "none":
            written = b"".join(b",".join(row).replace(b"\n", b" ") + b"\n" for row in rows)
        path.write_bytes(b"x,y,z\n" * (header is True) + written)
        return read(path, quote=quote, header=header)

    there = gained([*others[:place], record, *others[place:]])
    assert there[:place] + there[place + 1 :] == gained(others)


@given(st.lists(st.text("0123456789.eE+-infa \t", max_size=7), max_size=9), st.just(()))
@example(["1", "2"], ("1",))
@examples
def test_numbers_are_those_of_the_fields_as_text(tmp_path_factory, fields, missing):
    path = tmp_path_factory.mktemp("text") / "rows.tsv"
    path.write_text("".join(f"{one}|w\n" for one in ("x", *fields)))
    source = tables.Source(path, separator="|", missing=missing)
    texts = tables.open_table(source).collect().get_column("x").to_list()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", 8)
        found = tables.numeric_column(source, "x")
    np.testing.assert_array_equal(
        found, pl.Series(texts, dtype=pl.String).cast(float, strict=False)
    )


@pytest.mark.parametrize(
    ("content", "stated", "expected"),
    [
        ("﻿days;ward\n 3 ;a\n", {"separator": ";"}, [("3", "a")]),
        ("days,ward\n3,M\u00fcller\n", {"encoding": "cp1252"}, [("3", "M\u00fcller")]),
        ("days,ward\n3,\U0001f600\n", {"encoding": "utf-16"}, [("3", "\U0001f600")]),
        ("sep=,\nplate,7\ndays,ward\n3,a\n", {"skip_lines": 2}, [("3", "a")]),
        ("# two\n# lines\ndays,ward\n# one\n3,a\n", {"comment": "#"}, [("3", "a")]),
        ("3,a\n4,b\rc", {"header": ("days", "ward")}, [("3", "a"), ("4", "b\rc")]),
        ("days,ward\nNA,-\n5,c,-\n", {"missing": ("NA", "-")}, [(None, None)] * 2),
        ("days,ward\n,b\n", {"missing": ("NA",)}, [(None, "b")]),
        ("days,ward\n3\n4,b,\n5,b,c\n\n", {}, [("3", None), ("4", "b"), *[(None, None)] * 2]),
        ("days,ward\r\n3,'a,b'\r\n", {"quote": "'"}, [("3", "a,b")]),
        ('days,ward\n5" pipe,"a ""b""\nc"\n', {}, [('5" pipe', 'a "b"\nc')]),
        (" days , ward \n3, a \n", {"strip": False}, [("3", " a ")]),
        ('days,ward\r\n3,5" pipe\r\n', {"strip": False}, [("3", '5" pipe')]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_dialect_is_read(tmp_path, content, stated, expected, packed):
    path = tmp_path / ("rows.csv.gz" if packed else "rows.csv")
    written = content.encode(stated.get("encoding", "utf-8"))
    path.write_bytes(gzip.compress(written) if packed else written)

    frame = tables.open_table(tables.Source(path, **stated))

    assert frame.collect_schema().names() == ["days", "ward"]
    assert frame.collect().rows() == expected


@pytest.mark.parametrize("block", [9, text.BLOCK])
@pytest.mark.parametrize(
    ("suffix", "packed"),
    [(".gz", gzip.compress), (".zst", text._zstandard().compress)],
)
def test_all_parts_of_a_compressed_file_are_read_or_none(
    tmp_path, monkeypatch, block, suffix, packed
):
    """A file of Zstandard that was cut was read up to there, and one of two frames in half."""
    lines = [f"{n},{n * 7919 % 100_003}\n".encode() for n in range(60_000)]
    first, second = packed(b"a,b\n" + b"".join(lines[:999])), packed(b"".join(lines[999:]))
    path = tmp_path / f"rows.csv{suffix}"
    monkeypatch.setattr(text, "BLOCK", block * 1000)

    path.write_bytes(first + second)
    assert tables.count_records(path) == len(lines)

    for end in (len(first) - 1, len(first) + len(second) // 2, len(first + second) - 1):
        path.write_bytes((first + second)[:end])
        with pytest.raises(DataError):
            tables.count_records(path)


@pytest.mark.parametrize(
    ("content", "stated", "cures"),
    [
        (b"name,days\rSmith,1\rJones,2\r", {}, ()),
        (b"name,da\rys\nSmith,1\n", {}, ()),
        # The lowest polars says itself what is wrong with rows.
        (b"Smith,1\rJones,2\r", {"header": ["name", "days"]}, None),
        (b'name,"days\nSmith,1\n', {}, ("quote",)),
        ("name,days\nSmith,1\n".encode("utf-16"), {}, ("encoding",)),
        (b"days,days\n1,Smith\n", {}, ("header", "skip_lines")),
        (b"days   ward\n   3   Smith\n", {"separator": " "}, ("separator",)),
        (b"Smith", {}, ()),
    ],
)
def test_a_first_line_that_is_no_header_is_refused_in_no_words_of_it(
    tmp_path, content, stated, cures
):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)

    with pytest.raises(DataError) as caught:
        tables.count_records(tables.Source(path, **stated))
    assert cures is None or caught.value.arguments == cures
    assert "Smith" not in str(caught.value)


def test_no_pair_that_was_compared_differs():
    root = Path(__file__).parents[2]
    table = pl.read_csv(root / "benchmarks" / "results" / "text_records.csv")

    assert table.filter(pl.col("writer of the record") != "none")["changed"].sum() == 0
