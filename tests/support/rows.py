"""Scores in rows that are listed, for samplers that ask for few of them."""

import numpy as np


class Listed:
    """Rows of scores, of which those are near that lie between the outermost near ones."""

    def __init__(self, scores):
        self.scores = np.array(scores, dtype=float)
        self.scores -= self.scores.max(axis=1, keepdims=True)
        self.shape = self.scores.shape

    def near(self, reach):
        worst = self.scores.max(axis=1, keepdims=True) - reach[:, None, None]
        is_near = self.scores >= worst
        return is_near.argmax(axis=2), self.shape[1] - is_near[:, :, ::-1].argmax(axis=2)

    def at(self, row, place):
        return self.scores[row, place]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.scores, dtype)
