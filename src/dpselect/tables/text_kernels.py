"""Kernels of text files: where records end, and records written so that all readers agree.

One automaton reads bytes of five classes. Its states are what a byte stands in.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect._compiled import compiled

OTHER, SEPARATOR, QUOTE, LF, CR = range(5)
CR_BYTE = 13
RECORD, FIELD, PLAIN, QUOTED, CLOSED, ENDING, COMMENT, CONTRADICTED = range(8)

NEXT = np.array(
    [
        # other, separator, quotation mark, LF, CR
        [PLAIN, FIELD, QUOTED, RECORD, PLAIN],
        [PLAIN, FIELD, QUOTED, RECORD, PLAIN],
        [PLAIN, FIELD, PLAIN, RECORD, PLAIN],
        [QUOTED, QUOTED, CLOSED, QUOTED, QUOTED],
        [CONTRADICTED, FIELD, QUOTED, RECORD, ENDING],
        [CONTRADICTED, CONTRADICTED, CONTRADICTED, RECORD, CONTRADICTED],
        [COMMENT, COMMENT, COMMENT, RECORD, COMMENT],
    ],
    dtype=np.uint8,
)
"""The state after a byte, by the state before it and the class of the byte.

A field that has begun with a mark is closed by the next mark, and open again if another follows
at once.
"""


def classes_of(separator: bytes, quote: bytes) -> NDArray[np.uint8]:
    """Return the class of each byte; without a quotation mark ``quote`` is empty."""
    classes = np.full(256, OTHER, dtype=np.uint8)
    for one, byte in ((LF, b"\n"), (CR, b"\r"), (SEPARATOR, separator), (QUOTE, quote)):
        if byte:
            classes[byte[0]] = one
    return classes


@compiled
def _begins(block: NDArray[np.uint8], at: int, comment: NDArray[np.uint8]) -> bool:
    """Return whether a comment begins there."""
    if comment.size == 0 or at + comment.size > block.size:
        return False
    for j in range(comment.size):  # noqa: SIM110 -- numba compiles no generators
        if block[at + j] != comment[j]:
            return False
    return True


@compiled
def scan(
    block: NDArray[np.uint8],
    classes: NDArray[np.uint8],
    table: NDArray[np.uint8],
    comment: NDArray[np.uint8],
) -> tuple[int, bool, int]:
    """Return the end of the last whole record, whether readers may disagree, the last state.

    The block begins with a record. Readers that toggle at marks agree with the rule where
    marks stand at both ends of fields, doubled within; comments they treat as they like.
    """
    end, state, i = 0, RECORD, 0
    is_odd = False
    while i < block.size:
        if state == RECORD and _begins(block, i, comment):
            state = COMMENT
            is_odd = True
        # Most bytes leave these states as they are; looking for others is faster.
        while state == PLAIN and i < block.size and classes[block[i]] == OTHER:
            i += 1
        while state == QUOTED and i < block.size and classes[block[i]] != QUOTE:
            i += 1
        if i == block.size:
            break
        one = classes[block[i]]
        if state == PLAIN and one == QUOTE:
            is_odd = True
        state = table[state, one]
        i += 1
        if state == CONTRADICTED:
            break
        if state == RECORD:
            end = i
    return end, is_odd, state


@compiled
def rewrite(
    block: NDArray[np.uint8],
    classes: NDArray[np.uint8],
    table: NDArray[np.uint8],
    comment: NDArray[np.uint8],
    quote: int,
) -> NDArray[np.uint8]:
    """Return whole records with each field between quotation marks, and no comments."""
    out = np.empty(3 * block.size + 2, dtype=np.uint8)
    at, state = 0, RECORD
    for i in range(block.size):
        byte = block[i]
        if state == RECORD and _begins(block, i, comment):
            state = COMMENT
        before, one = state, classes[byte]
        state = table[state, one]
        if before == COMMENT:
            continue
        is_opened = before <= FIELD and one != QUOTE and not (before == RECORD and one == LF)
        if is_opened:
            out[at] = quote
            at += 1
        if (is_opened or before == PLAIN) and byte == quote:
            out[at] = quote
            at += 1
        if (is_opened or before == PLAIN) and state <= FIELD:
            if before == PLAIN and one == LF and block[i - 1] == CR_BYTE:
                at -= 1
            out[at] = quote
            at += 1
        out[at] = byte
        at += 1
    if state == PLAIN:
        out[at] = quote
        at += 1
    return out[:at]
