"""Examples as code that can be copied: no prompts, and output as comments.

The sources keep the prompts, since doctest runs them.
"""

from __future__ import annotations

import re

BLOCK = re.compile(
    r"^(?P<indent>[ ]*)```(?P<kind>python|console)(?P<more>[^\n]*)\n"
    r"(?P<code>.*?)^(?P=indent)```",
    re.DOTALL | re.MULTILINE,
)
BARE = re.compile(
    r"^(?P<indent>[ ]*)>>> [^\n]*(?:\n(?P=indent)(?!```)[^\n]*\S[^\n]*)*", re.MULTILINE
)
OUTPUT = "#> "


def without_prompts(page: str) -> str:
    """Return Markdown whose blocks of code hold what a reader types."""
    return BLOCK.sub(_block, page)


def fenced(docstring: str) -> str:
    """Return a docstring whose examples are blocks of code without prompts."""
    return BARE.sub(
        lambda found: "\n".join(
            f"{found['indent']}{line}".rstrip()
            for line in ["```python", *_python(_dedented(found[0])), "```"]
        ),
        docstring,
    )


def _dedented(text: str) -> list[str]:
    lines = text.split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return [line[indent:] for line in lines]


def _block(found: re.Match[str]) -> str:
    indent = len(found["indent"])
    lines = [line[indent:] for line in found["code"].removesuffix("\n").split("\n")]
    if found["kind"] == "console":
        kind, lines = "sh", [line.removeprefix("$ ") for line in lines]
    elif any(line.startswith(">>> ") for line in lines):
        kind, lines = "python", _python(lines)
    else:
        return found[0]
    code = "\n".join(f"{found['indent']}{line}".rstrip() for line in lines)
    return f"{found['indent']}```{kind}{found['more']}\n{code}\n{found['indent']}```"


def _python(lines: list[str]) -> list[str]:
    """Return the statements of a session, and what each prints as comments behind it."""
    out: list[str] = []
    for line in lines:
        if line.startswith((">>> ", "... ")):
            if out and out[-1].startswith(" ") and line.startswith(">>> "):
                out.append("")  # as a session needs it behind a block
            out.append(line[4:])
        elif line in {">>>", "..."} or not line.strip():
            out.append("")
        else:
            out.append(OUTPUT + line)
    while out and not out[-1]:
        out.pop()
    return out
