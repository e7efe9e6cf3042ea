"""CSV files: read with their columns, and written all complete or none, never over another."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dpselect.errors import DataError


def write_together(contents: Mapping[Path, str], *, secret: Collection[Path]) -> None:
    """Write new files that all appear complete, or none does.

    Args:
        contents: Text by path.
        secret: Which of them only their owner may read, from the first byte on.

    Raises:
        OSError: One is there already, or cannot be written; none is then there.
    """
    parts = {path: path.with_name(f".{path.name}.{os.getpid()}.part") for path in contents}
    named: list[Path] = []
    try:
        for path, part in parts.items():
            _write_private(part, contents[path])
            if path not in secret:
                part.chmod(0o644)
        for path, part in parts.items():
            # A hard link, unlike a rename, never replaces a file made in the meantime.
            os.link(part, path)
            named.append(path)
    except OSError:
        for path in named:
            path.unlink(missing_ok=True)
        raise
    finally:
        for part in parts.values():
            with suppress(OSError):
                part.unlink(missing_ok=True)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV file as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def read_csv(path: str | Path, columns: Iterable[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file that has these columns, without spaces around fields.

    Raises:
        DataError: There is no such file, it is not UTF-8, or a column is missing.
    """
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = sorted(set(columns) - {name.strip() for name in reader.fieldnames or ()})
            if missing:
                raise DataError(f"{path} has no column {', '.join(missing)}, between commas")
            return [
                {str(k).strip(): (v or "").strip() for k, v in row.items() if k is not None}
                for row in reader
            ]
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError, csv.Error):
        raise DataError(f"{path} cannot be read; it must be a CSV file in UTF-8") from None


def _write_private(path: Path, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
