// The exponential mechanism: P(r) proportional to exp(epsilon s_r / 2) of unit scores s.

import { largest, normalised } from "./numbers.js";

export function exponential(scores, epsilon) {
  const best = largest(scores);
  return normalised(scores.map((score) => Math.exp(((score - best) * epsilon) / 2)));
}
