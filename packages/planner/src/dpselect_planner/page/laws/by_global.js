// Unit scores by the global sensitivity: one neighbour step moves each by at most 1.

import { largest } from "./numbers.js";

// Doubled if every step moves all scores in one direction (monotone).
export function byGlobal(scores, bound, monotone) {
  const best = largest(scores);
  return scores.map((score) => ((monotone ? 2 : 1) * (score - best)) / bound);
}
