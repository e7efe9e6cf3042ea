// Report noisy max with Laplace noise of scale 2 / epsilon on unit scores.

import { evenEdges, largest, normalised, panels } from "./numbers.js";
import { NEGLIGIBLE, unrefused } from "./permute_and_flip.js";

export function noisyMax(scores, epsilon) {
  const best = largest(scores);
  const gaps = scores.map((score) => ((best - score) * epsilon) / 2);
  const accept = gaps.map((gap) => Math.exp(-gap));
  // Above the best score all noisy scores have exponential tails: permute-and-flip.
  const above = unrefused(accept.map((chance) => chance / 2));
  const below = wonBelowTheBest(gaps, accept);
  return normalised(accept.map((chance, r) => chance * (above[r] / 2 + below[r])));
}

// The probability to win at a distance y > 0 below the best score, over exp(-gap). The
// integrand has kinks at the gaps, so the panels end there.
function wonBelowTheBest(gaps, accept) {
  const n = gaps.length;
  const end = negligibleFrom(gaps);
  const kinks = gaps.filter((gap) => gap < end);
  const edges = [...new Set([...evenEdges(end, 64), ...kinks])].sort((a, b) => a - b);
  const { points, shares } = panels(edges, 8);
  const law = new Float64Array(n);
  for (let at = 0; at < points.length; at++) {
    const growth = Math.exp(points[at]);
    let mass = shares[at];
    for (let r = 0; r < n; r++) mass *= notAbove(gaps[r], accept[r], points[at], growth);
    for (let r = 0; r < n; r++) {
      const passed = gaps[r] <= points[at];
      law[r] += passed ? mass / accept[r] : (mass * growth) / (2 - accept[r] * growth);
    }
  }
  return law;
}

// The probability that a candidate's noisy score is below the best score less `distance`.
function notAbove(gap, accept, distance, growth) {
  return gap <= distance ? 0.5 / (accept * growth) : 1 - (accept * growth) / 2;
}

// A distance at which the product over all candidates is negligible, by bisection.
function negligibleFrom(gaps) {
  let [low, high] = [0, NEGLIGIBLE];
  for (let step = 0; step < 20; step++) {
    const middle = (low + high) / 2;
    let sum = 0;
    for (const gap of gaps) if (gap <= middle) sum += Math.LN2 + middle - gap;
    [low, high] = sum > NEGLIGIBLE ? [low, middle] : [middle, high];
  }
  return high;
}
