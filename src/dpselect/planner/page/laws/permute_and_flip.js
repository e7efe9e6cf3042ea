// Permute-and-flip: visit candidates in random order, release the first accepted one.

import { evenEdges, largest, normalised, panels, total } from "./numbers.js";

const DIRECT = 256; // candidates up to which one rule is exact and cheap
export const NEGLIGIBLE = 45; // exp(-45) is below 2^-64

export function permuteAndFlip(scores, epsilon) {
  const best = largest(scores);
  const accept = scores.map((score) => Math.exp(((score - best) * epsilon) / 2));
  const first = unrefused(accept);
  return normalised(accept.map((chance, r) => chance * first[r]));
}

// The integral of prod_{j != r} (1 - p_j z) over z in [0, 1]: the probability that r arrives
// before any other is accepted. Beyond `end` the product is negligible.
export function unrefused(accept) {
  const n = accept.length;
  const exact = n <= DIRECT;
  const end = exact ? 1 : Math.min(1, NEGLIGIBLE / total(accept));
  const order = exact ? Math.ceil(n / 2) : 16;
  const { points, shares } = panels(evenEdges(end, exact ? 1 : 16), order);
  const chances = Float64Array.from(accept);
  const first = new Float64Array(n);
  for (let at = 0; at < points.length; at++) {
    const z = points[at];
    let mass = shares[at];
    for (let r = 0; r < n; r++) mass *= 1 - chances[r] * z;
    for (let r = 0; r < n; r++) first[r] += mass / (1 - chances[r] * z);
  }
  return first;
}
