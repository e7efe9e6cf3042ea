"""The site's pages before the builder, and what is asked of them afterwards."""

import functools
import json
import math
import re
import threading
import tomllib
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from operator import attrgetter
from pathlib import Path

import griffe
import pytest
from site_build import built, docstrings, examples, mathml, pages, tables

import dpselect as dp
from support import house

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"

PAGE = r"""
*For $x_1$,
$y_1 * z * 2$ is* code `$a$` and \$5 or \$6.

| a | b |
| --- | --- |
| $|x|$ | $\varepsilon$ |

$$
\sum_i x_i
\le 1
$$

```console
$ run $HOME
```
"""


def test_formulas_become_mathml_and_code_stays():
    shown = mathml.with_mathml(PAGE)

    assert mathml.count(PAGE) == shown.count("<math") == 5
    assert shown.count('display="block"') == 1
    assert "code `$a$` and \\$5 or \\$6." in shown
    assert "$ run $HOME" in shown


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ("<math></math>", []),
        ("", ["index: 0 formulas of 1 were built"]),
        ("<math></math> $$x$$", ["site: $$ is no formula"]),
        ("<math></math> 10^6^ rows, 10<sup>6</sup>", ["site: ^6^ is no power"]),
        ("<math></math>e<sup>(2x)/(e</sup>(2x)", ["site: (2x)/(e is no power"]),
        ("<math></math><pre>[a](a.md)</pre>", ["site: [a](a.md) is no code"]),
        ('<math></math><a href="no/">x</a>', ["site: no/ leads nowhere"]),
        ('<math></math><a href="#there">x</a>', ["site: #there leads nowhere"]),
        ('<math></math><img src="no.png">', ["site: no.png leads nowhere"]),
        ('<math></math><p id="here"><a href="#here">x</a></p><code>$$</code>', []),
        ("<math></math><pre><code>$ run</code></pre>", ["site: its code has prompts"]),
        ("<math></math><pre>x\n<b>&gt;&gt;&gt; </b>y</pre>", ["site: its code has prompts"]),
    ],
)
def test_the_built_site_is_checked(tmp_path, planted, expected):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(planted, "utf-8")

    assert built.problems(site, {"index": 1}) == expected


def test_the_search_finds_classes_and_not_their_members(tmp_path):
    places = [
        "keys/#group-by",
        "r/#dpselect.keys.Keys",
        "r/#dpselect.keys.Keys.answer",
        "r/#d.f",
    ]
    index = tmp_path / "search.json"
    index.write_text(json.dumps({"items": [{"location": one} for one in places]}), "utf-8")

    built.hide_members(tmp_path)

    kept = [one["location"] for one in json.loads(index.read_text("utf-8"))["items"]]
    assert kept == [places[0], places[1], places[3]]


def test_a_class_shows_what_its_private_base_says():
    shown = griffe.load(
        "dpselect.trees.id3",
        search_paths=[ROOT / "src"],
        extensions=griffe.load_extensions(ROOT / "site_build" / "docstrings.py"),
    )

    text = shown["ID3Tree"].docstring.value
    assert "max_depth: Maximal number of splits on a path" in text
    assert "max_records: Upper bound on the number of counted records" in text


SESSION = """
```python
>>> def f(x):
...     return x
>>> print(f(1))
1
Two
>>> f(2)
2

```

```console
$ dpselect top x.csv \\
    --k 1
$ dpselect budget b
```

```text
$ 5
```
"""


def test_code_is_shown_without_prompts_and_output_as_comments():
    assert (
        examples.without_prompts(SESSION)
        == """
```python
def f(x):
    return x

print(f(1))
#> 1
#> Two
f(2)
#> 2
```

```sh
dpselect top x.csv \\
    --k 1
dpselect budget b
```

```text
$ 5
```
"""
    )


RULE = "    ====  ==="
DOCSTRINGS = {
    "an example is a block of code": (
        "Do.\n\nExamples:\n    >>> x = [\n    ...     1]\n    >>> x\n    [1]",
        "Do.\n\nExamples:\n    ```python\n    x = [\n        1]\n\n    x\n    #> [1]\n    ```",
    ),
    "a table is one of Markdown": (
        f"Do.\n\n{RULE}\n    name  is\n{RULE}\n    a     x\n          y\n    b     z\n{RULE}",
        "Do.\n\n    | name | is |\n    | --- | --- |\n    | a | x y |\n    | b | z |",
    ),
    "a source of two lines is a sentence": (
        "Do.\n\nRaises:\n    A: b\n        c.\n\nSource: Dwork (counts\n    on); x.\n\nEnd.",
        "Do.\n\nRaises:\n    A: b\n        c.\n\nSource: Dwork (counts\non); x.\n\nEnd.",
    ),
}


@pytest.mark.parametrize(("text", "shown"), DOCSTRINGS.values(), ids=DOCSTRINGS)
def test_a_docstring_becomes_markdown(text, shown):
    assert docstrings.as_markdown(text) == shown


STORED = {
    "a.csv": "data,mechanism,epsilon,run,error\n"
    "x,ours,1,0,1\nx,ours,1,1,3\ny,ours,1,0,8\nx,theirs,1,0,4\ny,theirs,1,0,4\n",
    "b.csv": "data,method,epsilon,error\nx,other,1,1\nx,other,2,10\nz,other,2,99\n",
}
"""Two runs of one cell, which count as one; and a column with another name."""


@pytest.fixture
def stored(tmp_path, monkeypatch):
    for name, text in STORED.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.setattr(tables, "FOLDERS", (tmp_path,))
    tables._read.cache_clear()
    yield
    tables._read.cache_clear()


TABLE = """<!-- table a.csv + b.csv [data=x / y] | rows method
  | columns epsilon | values error{} -->"""


@pytest.mark.usefixtures("stored")
def test_a_mark_becomes_a_table_of_medians_over_the_data_and_means_over_runs():
    shown = tables.with_tables(f"before\n{TABLE.format('')}\nafter").splitlines()

    assert shown[1:3] == ["|  | ε = 1 | ε = 2 |", "| --- | ---: | ---: |"]
    assert shown[3:] == [
        "| ours | 5.00 |  |", "| theirs | 4.00 |  |", "| other | 1.00 | 10.00 |", "after"
    ]  # fmt: skip


@pytest.mark.usefixtures("stored")
def test_a_mark_selects_names_and_divides():
    named = TABLE.format(" | names theirs=**peer**; ours | digits 1")
    relative = "a.csv [run=0] | rows method | columns epsilon | values error | relative ours"

    assert tables.with_tables(named).splitlines()[2:] == [
        "| **peer** | 4.0 |  |", "| ours | 5.0 |  |"
    ]  # fmt: skip
    assert tables.with_tables(f"<!-- range {relative} | row theirs -->") == "2.25 to 2.25"


@pytest.mark.parametrize("peer", ["OpenDP", "diffprivlib"])
def test_the_readme_quotes_the_table_of_errors(peer):
    errors = "percentiles_one.csv | rows method | columns epsilon | values error"
    shown = tables.with_tables(f"<!-- range {errors} | relative chosen | row {peer} -->")

    assert shown in (ROOT / "README.md").read_text("utf-8")


def test_every_mark_of_the_site_is_a_table_of_stored_results():
    marked = (ROOT / "docs").rglob("*.md")
    shown = [tables.with_tables(page.read_text("utf-8")) for page in marked]

    assert sum(page.count(" ---: |\n") for page in shown) > 30
    assert not any("<!--" in page for page in shown)


def listed(entries):
    """Yield all pages of a navigation."""
    for entry in entries:
        for inside in entry.values():
            yield from [inside] if isinstance(inside, str) else listed(inside)


@pytest.mark.parametrize("book", pages.books(), ids=lambda book: book.settings)
def test_every_page_is_in_the_navigation_of_its_book_once(book):
    nav = tomllib.loads((ROOT / book.settings).read_text("utf-8"))["project"]["nav"]
    names = [Path(name) for path, name in book.files().items() if path.suffix in pages.PAGES]
    made = [Path("print.md")] if book.place else []

    assert sorted(listed(nav)) == sorted(
        name.with_name(f"{name.stem.replace('README', 'index')}.md").as_posix()
        for name in [*names, *made]
    )


def test_the_report_is_one_page_too():
    whole = pages.whole_report()

    assert "](#theorem-" in whole
    assert not re.search(r"\]\([a-z]+\.md", whole)


def pages_of(kind):
    nav = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    [entries] = (entry[kind] for entry in nav if kind in entry)
    return list(listed(entries))


HOW_TO = [*pages_of("Release"), *pages_of("Work")]
QUESTION = re.compile(r"# .+\n\n\*[A-Z][^*]+\?\*(?:(?!\n\n).)*\n\n```", re.DOTALL)
"""A title, the reader's question, at most a paragraph, and code."""


@pytest.mark.parametrize("name", HOW_TO)
def test_a_how_to_begins_with_a_question_and_code(name):
    text = house.pages()[name].read_text("utf-8")

    assert QUESTION.match(text)
    assert len(text[: text.index("```")].split()) < 80


def test_the_first_sentence_is_the_same_everywhere():
    [first] = re.findall(r"\n\n(dpselect answers .+?)\n\n", dp.__doc__, re.DOTALL)
    for name in ("README.md", "docs/index.md"):
        text = (ROOT / name).read_text("utf-8").replace("**dpselect**", "dpselect")
        assert " ".join(first.split()) in " ".join(text.split()), name

    said = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["description"]
    assert said.lower().removesuffix(".") in " ".join(first.split()).lower().replace("*", "")


def test_the_diagram_of_neighbours_shows_exact_probabilities():
    page = (ROOT / "docs" / "privacy.md").read_text("utf-8")
    shown = re.findall(r"--p: (\S+)\">\w+ (\d) <i>(\S+)</i>", page)
    laws = []
    for row in (shown[:3], shown[3:]):
        votes = dp.Objective(
            [int(count) for _, count, _ in row],
            dp.GlobalSensitivity(1, "add-remove"),
            monotone=True,
        )
        laws.append(dp.PermuteAndFlip(epsilon=1.0).probabilities(votes))
        expected = [f"{probability:.3f}"[1:] for probability in laws[-1]]
        assert [(bar, said) for bar, _, said in row] == [(p, p) for p in expected]

    largest = max(max(a / b, b / a) for a, b in zip(*laws, strict=True))
    assert f"largest factor\nhere is {largest:.2f}" in page


def test_code_names_pages_that_exist():
    folders = ("src", "packages", "studies/src", "benchmarks", "tests", "proofs", "examples")
    gone = {"docs/reference.md"}  # which a test forbids
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for name in re.findall(r"docs/[a-z/-]+\.md", path.read_text("utf-8")):
            assert name in gone or (ROOT / name).exists(), path


@pytest.fixture(scope="module")
def address():
    """The address of the site that ``make docs`` built."""
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built: make docs")
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    served = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(quiet, directory=str(SITE))
    )
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{served.server_port}/"
    served.shutdown()
    served.server_close()


CUT = """[...document.querySelectorAll('.formula')].filter(
    e => e.scrollHeight > e.clientHeight + 1 && e.clientHeight
         && getComputedStyle(e).overflowY !== 'visible').length"""


@pytest.mark.slow
def test_no_page_scrolls_sideways_on_a_telephone_and_no_formula_is_cut(browser, address):
    browser.set_viewport_size({"width": 400, "height": 800})
    pages = [path.parent.relative_to(SITE).as_posix() for path in SITE.rglob("index.html")]
    wrong = []
    for page in sorted(pages):
        browser.goto(f"{address}{page}/")
        browser.wait_for_function("document.fonts.status === 'loaded'")
        width = browser.evaluate("document.documentElement.scrollWidth - innerWidth")
        cut = browser.evaluate(CUT)
        if width > 0 or cut:
            wrong.append((page, width, cut))

    assert len(pages) > 40
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("group by ward", "percentiles/?h=group+by+ward#group-by-ward"),
        ("histogram", "maps/?h=histogram#which-cells-a-histogram-or-a-quadtree"),
        ("partition selection", "keys/?h=partition+selection#if-not-partition-selection"),
        ("hyperparameters", "tuning/?h=hyperparameters"),
        (
            "contribution bound",
            "files/?h=contribution+bound#which-contribution-bound-to-choose",
        ),
        ("mean", "accuracy/?h=mean#sum-mean-count-use-opendp"),
        ("cite", "reference/?h=cite#how-to-cite"),
        ("duckdb", "engines/?h=duckdb#duckdb"),
    ],
)
def test_the_first_that_the_search_finds_is_the_how_to(browser, address, words, expected):
    browser.set_viewport_size({"width": 1400, "height": 900})
    browser.goto(address)
    browser.click(".md-search__button")
    browser.wait_for_function("document.activeElement.shadowRoot !== null")
    browser.keyboard.insert_text(words)
    found = browser.locator(f"a[href*='?h={words.replace(' ', '+')}']").first

    assert found.evaluate("one => one.href") == address + expected


@pytest.mark.slow
def test_the_start_page_is_small(address):
    assert address
    assert built.bytes_of(SITE / "index.html") < 300_000


def test_the_odds_of_a_guess_are_those_of_the_formula():
    page = (ROOT / "docs" / "ideas.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| ([\d.]+) % \| ([\d.]+) % \|$", page, re.MULTILINE)

    assert len(rows) == 5
    for epsilon, *shown in rows:
        factors = (math.exp(times * float(epsilon)) for times in (1, 2))
        assert shown == [f"{100 * factor / (1 + factor):.1f}" for factor in factors]


NAME = re.compile(r"`(dp(?:\.[A-Za-z]\w*)+)")


@pytest.mark.parametrize("book", pages.books(), ids=lambda book: book.settings)
def test_pages_name_what_there_is(book):
    """Methods and fields, too: ``dp.PermuteAndFlip.release``."""
    texts = [path.read_text("utf-8") for path in book.files() if path.suffix == ".md"]
    names = {name.removeprefix("dp.") for text in texts for name in NAME.findall(text)}

    assert names
    for name in sorted(names):
        assert attrgetter(name)(dp) is not None, name


OUTSIDE = sorted({*ROOT.glob("*.md"), *ROOT.glob("articles/*.md"), *ROOT.glob("*/*/README.md")})


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_what_is_read_in_a_clone_leads_to_files(path):
    for link in re.findall(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)", path.read_text("utf-8")):
        assert (path.parent / link).exists(), link
