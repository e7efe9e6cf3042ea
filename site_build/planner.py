"""Adds the planner's page, which the package assembles, to the site."""

from __future__ import annotations

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from dpselect.planner import page


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add one file that no source of the docs has; MkDocs calls this."""
    files.append(File.generated(config, "planner-page.html", content=page()))
    return files
