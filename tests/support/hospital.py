"""A table of a hospital, its policy and a request."""

import polars as pl
import pytest

POLICY = """\
ledger = "clinic.budget"

[data]
path = "stays.parquet"
where = ["year >= 2024"]

[unit]
neighbours = "add-remove"
user = "patient"
max_per_user = 5

[release]
queries = ["TopKeys", "Percentiles", "Keys", "HeavyCells"]
epsilon = 50.0
delta = 1e-6

[person]
epsilon = 300.0
delta = 1e-5

[columns.days]
lower = 0
upper = 60
step = 1

[columns.ward]
candidates = ["heart", "lung", "skin"]

[columns.x]
lower = 0
upper = 10

[columns.y]
lower = 0
upper = 10

[columns.patient]

[columns.year]
"""

REQUEST = """\
policy = "policy.toml"

[data]
where = ["year = 2025"]

[[queries]]
query = "Percentiles"
name = "median"
column = "days"
p = 50
epsilon = 50.0

[[queries]]
query = "TopKeys"
column = "ward"
k = 1
max_per_user = 2
epsilon = 50.0
"""


@pytest.fixture
def clinic(tmp_path):
    """A folder with the table, its policy and a request."""
    return admitted(tmp_path)


def admitted(folder):
    """Write the table, its policy and a request to a folder, and return it."""
    people = 400
    stays = pl.DataFrame(
        {
            "patient": [f"p{at % people}" for at in range(3 * people)],
            "ward": ["heart", "heart", "lung", "skin"] * (3 * people // 4),
            "days": [7.0 if at % 3 else 30.0 for at in range(3 * people)],
            "year": [2025 - at % 5 // 4 for at in range(3 * people)],
            "x": [1.0] * (3 * people),
            "y": [2.0] * (3 * people),
        }
    )
    stays.write_parquet(folder / "stays.parquet")
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    (folder / "hospital.toml").write_text(REQUEST, encoding="utf-8")
    return folder
