"""The site's pages before the builder, and what is asked of them afterwards."""

from pathlib import Path

import griffe
import markdown
import pytest
from benchmarks import scale
from site_build import built, docstrings, mathml

NAMES = tuple(scale.TASKS)

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


def test_markdown_reads_no_character_of_a_formula():
    shown = markdown.markdown(mathml.with_mathml(PAGE), extensions=["tables", "fenced_code"])
    page = built.Page(shown)

    assert page.formulas == 5
    assert shown.count("<em>") == 1
    assert shown.count("<td>") == 2
    assert shown.count("<p>") == 2


def test_a_docstring_has_mathml_for_its_roles():
    text = "At :math:`x \\le 1`,\n\n    .. math:: y\n        = 2\n\nas in :func:`~a.b.c`."

    shown = docstrings.as_markdown(text)

    assert shown.count("<math") == 2
    assert shown.endswith("as in `c`.")


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        ("<math></math>", []),
        ("", ["index: 0 formulas of 1 were built"]),
        ("<math></math> $$x$$", ["site: $$ is no formula"]),
        ("<math></math> 10^6^ rows, 10<sup>6</sup>", ["site: ^6^ is no power"]),
        ('<math></math><a href="no/">x</a>', ["site: no/ leads nowhere"]),
        ('<math></math><a href="#there">x</a>', ["site: #there leads nowhere"]),
        ('<math></math><img src="no.png">', ["site: no.png leads nowhere"]),
        ('<math></math><p id="here"><a href="#here">x</a></p><code>$$</code>', []),
    ],
)
def test_the_built_site_is_checked(tmp_path, planted, expected):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(planted, "utf-8")

    assert built.problems(site, {"index": 1}) == expected


def test_the_reference_shows_what_rooms_offer():
    assert docstrings.offered("dpselect.percentiles.percentiles", "Percentiles")
    assert docstrings.offered("dpselect.plan", "Plan")
    assert docstrings.offered("dpselect.errors", "BudgetError")
    assert not docstrings.offered("dpselect.draws.exact.samplers", "sampler")


def test_the_page_states_the_costs_that_were_measured(capsys):
    page = (Path(__file__).parents[1] / "docs" / "measurements.md").read_text("utf-8")
    scale.show()

    rows = [line for line in capsys.readouterr().out.splitlines() if line[2:].startswith(NAMES)]
    assert len(rows) > len(scale.TASKS)
    assert [row for row in rows if row not in page] == []


def test_a_class_shows_what_its_private_base_says():
    root = Path(__file__).parents[1]
    shown = griffe.load(
        "dpselect.trees.id3",
        search_paths=[root / "src"],
        extensions=griffe.load_extensions(root / "site_build" / "docstrings.py"),
    )

    text = shown["ID3Tree"].docstring.value
    assert "max_depth: Splits on a path" in text
    assert "max_records: A bound on the number of records" in text
