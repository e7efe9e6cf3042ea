"""Densest cells: those of most points, most first, and their counts where they are released."""

import numpy as np
from hypothesis import strategies as st

import dpselect as dp
from truth.question import asked, close
from truth.questions.maps import asked_of


def right_cells(cells, noisy, counts, box, grid, k, above=None):
    """Return whether cells are those of the most points, most first, and their counts true."""
    low, size = np.array(box[:2]), (np.array(box[2:]) - box[:2]) / grid
    corners = np.reshape(cells, (-1, 4))[:, :2]
    at = [tuple(one) for one in np.round((corners - low) / size).astype(int).tolist()]
    sides = [[*(low + size * one), *(low + size * np.add(one, 1))] for one in at]
    of = [counts[one] for one in at]
    best = sorted([*counts.values(), *[0] * (grid[0] * grid[1] - len(counts))], reverse=True)
    if above is not None:
        k = sum(one >= above for one in best)
    if of != best[:k] or len(set(at)) < len(at):
        return f"{cells}: counts {of}, the largest are {best[:k]}"
    if cells and not np.allclose(cells, sides, atol=1e-6):
        return f"{cells} are no cells"
    return noisy is None or close(noisy, of, 0.5)


@st.composite
def heavy_asked(draw, *, grouped=False, persons=False, above=False, **fields):
    """The cells of a grid that hold most points."""
    box, grid, given, rows, held, counts = draw(asked_of(grouped=grouped, persons=persons))
    k = draw(st.integers(1, min(grid[0] * grid[1], 6)))
    given |= {"grid": grid, "k": k} if not above else {"grid": grid, "above": k + 0.5}
    given |= {field: draw(one) for field, one in fields.items()}
    if grouped:
        given |= {"by": "g", "groups": ["s", "n"]}

    def right(release):
        for group, some in counts.items():
            cells = list(release.by_group[group]) if grouped else list(release.answer)
            noisy = release.noisy_scores
            if noisy is not None and grouped:
                noisy = [
                    n for n, (one, _) in zip(noisy, release.answer, strict=True) if one == group
                ]
            limit = k + 0.5 if above else None
            if (fault := right_cells(cells, noisy, some, box, grid, k, limit)) is not True:
                return fault
        return True

    return asked(dp.HeavyCells, given, rows, right, held=held)


QUESTIONS = {
    "heavy": heavy_asked(),
    "heavy above": heavy_asked(above=True),
    "heavy, mechanism": heavy_asked(
        mechanism=st.sampled_from(["exponential", "permute-and-flip", "noisy-sequence"])
    ),
    "heavy by group": heavy_asked(grouped=True),
    "heavy, persons": heavy_asked(persons=True),
}
