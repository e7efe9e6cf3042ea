import gzip
import io
import os
import threading
import zipfile
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dpselect.errors import DataError, ParameterError
from dpselect_studies import datasets
from dpselect_studies.datasets import formats

FOLDER = Path(os.environ["DPSELECT_DATA"])


def real(name):
    """The frame of a data set, or a skip by its name."""
    if not (FOLDER / f"{name}.parquet").is_file():
        pytest.skip(f"{name}: no {name}.parquet in DPSELECT_DATA or beside the checkout")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSELECT_DATA", str(FOLDER))
        return datasets.load(name)


@pytest.mark.parametrize("name", datasets.names())
def test_every_data_set_is_what_the_catalogue_says(name):
    table = real(name)
    about = datasets.about(name)

    assert f"{table.height:,}" == about.rows
    assert table.columns[0] in about.columns
    if about.url is not None:
        assert formats.fingerprint(table) == about.fingerprint


def test_an_unknown_name_is_answered_with_all_names():
    with pytest.raises(ParameterError):
        datasets.load("iris")


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


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", "."), text)
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
        return zipped(git_web_ml__musae_git_edges_DOT_csv=text, git_web_ml__README_DOT_txt="")
    if name == "adult":
        gap = "?, ".join([""] * 15) + "<=50K"
        parts = {}
        for split, dot in (("train", ""), ("test", ".")):
            rows = table.filter(pl.col("split") == split).drop("split").rows()
            parts[split] = "".join(", ".join(map(str, row)) + f"{dot}\n" for row in rows)
        return zipped(
            adult_DOT_data=f"{gap}\n{parts['train']}\n",
            adult_DOT_test=f"|1x3 Cross validator\n{parts['test']}{gap}.\n\n",
        )
    buffer = io.BytesIO()
    if "i" in table.columns:
        counts = np.zeros((256, 256))
        counts[table["i"], table["j"]] = table["count"]
    else:
        counts = table["count"].to_numpy()
    np.save(buffer, counts)
    return buffer.getvalue()


@pytest.fixture
def publisher(tmp_path, monkeypatch):
    """A server of a folder, and an empty cache for what is fetched from it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DPSELECT_DATA", raising=False)
    (tmp_path / "files").mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "files"))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield tmp_path / "files", f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["enron", "github_musae", "adult", "hist1d_income", "hist2d_adult_2d"]
)
def test_a_publishers_file_becomes_the_same_records(name, publisher, monkeypatch):
    folder, url = publisher
    expected = real(name)
    (folder / name).write_bytes(as_published(name, expected))
    served = replace(datasets.about(name), url=f"{url}/{name}", known_hash=None)
    monkeypatch.setattr("dpselect_studies.datasets.catalogue", lambda: {name: served})

    found = datasets.load(name)

    assert found.columns == expected.columns
    assert found.rows() == expected.rows()


def test_other_records_from_the_publisher_are_refused(publisher, monkeypatch):
    folder, url = publisher
    np.save(folder / "other.npy", np.arange(4096))
    about = datasets.about("hist1d_hepth")

    served = replace(about, url=f"{url}/other.npy")
    monkeypatch.setattr("dpselect_studies.datasets.catalogue", lambda: {"hist1d_hepth": served})
    with pytest.raises(DataError):
        datasets.load("hist1d_hepth")

    served = replace(about, url=f"{url}/other.npy?", known_hash="sha256:" + "0" * 64)
    with pytest.raises(DataError):
        datasets.load("hist1d_hepth")

    served = replace(about, url=f"{url}/none.npy")
    with pytest.raises(DataError):
        datasets.load("hist1d_hepth")
