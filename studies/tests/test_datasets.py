"""The catalogue of data sets, their publishers' formats, and files that are others."""

import gzip
import io
import zipfile
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest

from dpselect.errors import DataError
from dpselect_studies import datasets
from dpselect_studies.datasets import formats
from support.real_data import or_skip


@pytest.mark.parametrize("name", datasets.names())
def test_every_data_set_is_what_the_catalogue_says(name):
    table = or_skip(datasets.load, name)
    about = datasets.about(name)

    assert f"{table.height:,}" == about.rows
    assert table.columns[0] in about.columns
    if about.url is not None:
        assert formats.fingerprint(table) == about.fingerprint


def test_another_file_of_that_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DPSELECT_DATA", str(tmp_path))
    with pytest.raises(DataError):
        datasets.load("enron")

    pl.DataFrame({"src": [0], "dst": [1]}).write_parquet(tmp_path / "enron.parquet")
    with pytest.raises(DataError):
        datasets.load("enron")


def test_where_nothing_can_be_fetched_the_error_says_what_to_do(monkeypatch):
    monkeypatch.delenv("DPSELECT_DATA", raising=False)

    with pytest.raises(DataError):
        datasets.load("acs")


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def as_published(name, table):
    """The bytes of a data set in its publisher's format."""
    if name == "enron":
        both = pl.concat([table, table.select(src="dst", dst="src")]).sample(fraction=1)
        return gzip.compress(
            b"# Undirected graph\n"
            + both.write_csv(separator="\t", include_header=False).encode()
        )
    if name == "github_musae":
        text = table.select(id_1="dst", id_2="src").reverse().write_csv()
        return zipped({"git_web_ml/musae_git_edges.csv": text, "git_web_ml/README.txt": ""})
    if name == "adult":
        gap = "?, ".join([""] * 15) + "<=50K"
        parts = {}
        for split, dot in (("train", ""), ("test", ".")):
            rows = table.filter(pl.col("split") == split).drop("split").rows()
            parts[split] = "".join(", ".join(map(str, row)) + f"{dot}\n" for row in rows)
        test = f"|1x3 Cross validator\n{parts['test']}{gap}.\n\n"
        return zipped({"adult.data": f"{gap}\n{parts['train']}\n", "adult.test": test})
    buffer = io.BytesIO()
    if "i" in table.columns:
        counts = np.zeros((256, 256))
        counts[table["i"], table["j"]] = table["count"]
    else:
        counts = table["count"].to_numpy()
    np.save(buffer, counts)
    return buffer.getvalue()


def served(monkeypatch, name, path, **changes):
    """Let the publisher of a data set send this file."""
    monkeypatch.delenv("DPSELECT_DATA", raising=False)
    known = {name: replace(datasets.about(name), **{"url": "https://publisher/", **changes})}
    monkeypatch.setattr("dpselect_studies.datasets.catalogue", lambda: known)
    monkeypatch.setattr("pooch.retrieve", lambda *_, **__: str(path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["enron", "github_musae", "adult", "hist1d_income", "hist2d_adult_2d"]
)
def test_a_publishers_file_becomes_the_same_records(name, tmp_path, monkeypatch):
    expected = or_skip(datasets.load, name)
    path = tmp_path / name
    path.write_bytes(as_published(name, expected))
    served(monkeypatch, name, path)

    found = datasets.load(name)

    assert found.columns == expected.columns
    assert found.rows() == expected.rows()


def test_other_records_from_the_publisher_and_none_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "other.npy"
    np.save(path, np.arange(4096))
    served(monkeypatch, "hist1d_hepth", path)
    with pytest.raises(DataError):
        datasets.load("hist1d_hepth")

    monkeypatch.setattr("pooch.retrieve", Mock(side_effect=OSError("no network")))
    with pytest.raises(DataError):
        datasets.load("hist1d_hepth")
