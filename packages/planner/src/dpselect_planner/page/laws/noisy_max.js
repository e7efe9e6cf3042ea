// Report noisy max with Laplace noise of scale 2 / epsilon on unit scores.

import { evenEdges, largest, normalised, panels, range } from "./numbers.js";
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
// integrand has kinks at the gaps, so the panels end there. From the candidates of the smallest
// gaps on, more and more are passed: their noisy scores below y have an exponential tail.
function wonBelowTheBest(gaps, accept) {
  const n = gaps.length;
  const end = negligibleFrom(gaps);
  const order = range(n).sort((a, b) => gaps[a] - gaps[b]);
  const near = Float64Array.from(order, (r) => accept[r]).filter((chance) => chance * Math.exp(end) > TINY);
  const kinks = gaps.filter((gap) => gap < end);
  const edges = [...new Set([...evenEdges(end, 64), ...kinks])].sort((a, b) => a - b);
  const { points, shares } = panels(edges, 8);
  const won = new Float64Array(near.length);
  const whilePassed = new Float64Array(near.length + 1);
  let [passed, sum, ofFar] = [0, 0, 0];
  for (let at = 0; at < points.length; at++) {
    while (passed < near.length && gaps[order[passed]] <= points[at]) sum += gaps[order[passed++]];
    const half = Math.exp(points[at]) / 2;
    let mass = shares[at] * Math.exp(sum - passed * (points[at] + Math.LN2));
    for (let i = passed; i < near.length; i++) mass *= 1 - near[i] * half;
    for (let i = passed; i < near.length; i++) won[i] += (mass * half) / (1 - near[i] * half);
    whilePassed[passed] += mass;
    ofFar += mass * half;
  }
  const law = new Float64Array(n).fill(ofFar);
  for (let i = near.length - 1, since = 0; i >= 0; i--) {
    since += whilePassed[i + 1];
    law[order[i]] = won[i] + since / near[i];
  }
  return law;
}

const TINY = 2 ** -60; // what is smaller changes no product

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
