"""Notebooks: run in one process without Jupyter, and shown as pages of Markdown.

``python -m site_build.notebooks FILE...`` runs notebooks and stores what they show. The site
shows what is stored; the tests run all cells again and compare.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

Cell = dict[str, Any]
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def run(cells: list[Cell]) -> list[list[Cell]]:
    """Run the code cells of a notebook in order; return what each cell shows."""
    names: dict[str, Any] = {"__name__": "__main__"}
    _pictures()  # those that others in this process have left open
    return [
        _shown("".join(cell["source"]), names) if cell["cell_type"] == "code" else []
        for cell in cells
    ]


def as_page(text: str, target: Path) -> str:
    """Return a stored notebook as Markdown, and write its pictures beside the page."""
    parts, pictures, heading = [], 0, ""
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            heading = ([heading, *HEADING.findall(source)])[-1]
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if words := said(output):
                parts.append(f"```text\n{words}\n```")
            if drawn := output.get("data", {}).get("image/png"):
                pictures += 1
                picture = target.with_name(f"{target.stem}-{pictures}.png")
                picture.write_bytes(base64.b64decode(drawn))
                parts.append(f"![{heading}: what the cell draws]({picture.name}){{.drawn}}")
    return "\n\n".join(parts) + "\n"


def said(output: Cell) -> str:
    """Return the text of one output, or nothing for a picture."""
    text = output.get("text") or output["data"].get("text/plain", [])
    return "" if "image/png" in output.get("data", {}) else "".join(text).rstrip()


def store(path: Path) -> None:
    """Run one notebook and write it with what its cells show."""
    notebook = json.loads(path.read_text("utf-8"))
    for cell, outputs in zip(notebook["cells"], run(notebook["cells"]), strict=True):
        if cell["cell_type"] == "code":
            cell["outputs"] = outputs
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _shown(source: str, names: dict[str, Any]) -> list[Cell]:
    statements = ast.parse(source).body
    last = statements.pop() if statements and isinstance(statements[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with redirect_stdout(printed):
        exec(_compiled(ast.Module(statements, []), "exec"), names)  # noqa: S102 -- our own cells
        if isinstance(last, ast.Expr):
            value = eval(_compiled(ast.Expression(last.value), "eval"), names)  # noqa: S307
    outputs: list[Cell] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    pictures = _pictures()
    outputs += pictures
    if value is not None and not pictures:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        result: Cell = {"output_type": "execute_result", "execution_count": None}
        outputs.append(result | {"metadata": {}, "data": data})
    return outputs


def _compiled(tree: ast.Module | ast.Expression, mode: str) -> Any:  # noqa: ANN401 -- code
    return compile(ast.fix_missing_locations(tree), "<cell>", mode)


def _pictures() -> list[Cell]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    outputs = []
    for number in pyplot.get_fignums():
        drawn = io.BytesIO()
        pyplot.figure(number).savefig(
            drawn, dpi=110, bbox_inches="tight", metadata={"Software": None}
        )
        data = {"image/png": base64.b64encode(drawn.getvalue()).decode()}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    pyplot.close("all")
    return outputs


if __name__ == "__main__":
    import matplotlib as mpl

    mpl.use("Agg")
    for name in sys.argv[1:]:
        store(Path(name))
