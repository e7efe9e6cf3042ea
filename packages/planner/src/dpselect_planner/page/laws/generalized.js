// Generalized exponential mechanism: one global sensitivity for each candidate.

import { range } from "./numbers.js";

// The penalty that keeps the best candidate ahead of all noise with probability 0.95.
export const penalty = (candidates, epsilon) =>
  Math.min((2 / epsilon) * Math.log(candidates / 0.05), 2 ** 40);

// s_r = min_j ((u_r - t D_r) - (u_j - t D_j)) / (D_r + D_j); O(n^2).
export function generalized(scores, bounds, t) {
  const lines = scores.map((score, r) => score - t * bounds[r]);
  return lines.map((line, r) => {
    let least = 0;
    for (const j of range(lines.length)) {
      least = Math.min(least, (line - lines[j]) / (bounds[r] + bounds[j]));
    }
    return least;
  });
}
