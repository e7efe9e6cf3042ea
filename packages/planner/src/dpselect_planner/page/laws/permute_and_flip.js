// Permute-and-flip: visit candidates in random order, release the first accepted one.

import { evenEdges, largest, normalised, panels, total } from "./numbers.js";

const DIRECT = 256; // candidates up to which one rule is exact and cheap
export const NEGLIGIBLE = 45; // exp(-45) is below 2^-64
const TINY = 2 ** -60; // what is smaller changes no product

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
  const near = Float64Array.from(accept).filter((chance) => chance > TINY);
  const first = new Float64Array(near.length);
  let ofFar = 0;
  for (let at = 0; at < points.length; at++) {
    const z = points[at];
    let mass = shares[at];
    for (let r = 0; r < near.length; r++) mass *= 1 - near[r] * z;
    for (let r = 0; r < near.length; r++) first[r] += mass / (1 - near[r] * z);
    ofFar += mass;
  }
  let place = 0;
  return Float64Array.from(accept, (chance) => (chance > TINY ? first[place++] : ofFar));
}
