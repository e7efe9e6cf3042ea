// Private subset retrieval: the exact delta of laws of the number of swaps.

import { logBinomial, logFactorial, logSum, range } from "./numbers.js";

// ln of the number of subsets at each distance from a given one: C(d, a) C(n - d, a).
function logSizes(n, d) {
  const whole = logFactorial(d) + logFactorial(n - d);
  return range(Math.min(d, n - d) + 1).map(
    (a) => whole - logFactorial(d - a) - logFactorial(n - d - a) - 2 * logFactorial(a),
  );
}

// The parts of a scheme: distances `first` to `last`, their mass, and the decay for a swap.
function partsOfScheme({ n, d, beta, epsilon, failure = 0, scheme }) {
  const most = Math.min(d, n - d);
  const pure = [{ first: 0, last: most, mass: 1, decay: epsilon }];
  if (scheme === "ball") return [{ first: 0, last: beta, mass: 1, decay: 0 }];
  if (scheme === "pure" || beta === most) return pure;
  const tilted = logSizes(n, d).map((size, a) => size - epsilon * a);
  const odds = logSum(tilted.slice(beta + 1)) - logSum(tilted.slice(0, beta + 1));
  if (failure > 0 && Math.log(failure) - Math.log1p(-failure) >= odds) return pure;
  const parts = [{ first: 0, last: beta, mass: 1 - failure, decay: epsilon }];
  return failure > 0 ? [...parts, { first: beta + 1, last: most, mass: failure, decay: epsilon }] : parts;
}

// ln of the probability of each subset at a distance; -Infinity where it is impossible.
function logWeights(n, d, parts) {
  const sizes = logSizes(n, d);
  const weights = new Array(sizes.length).fill(-Infinity);
  for (const { first, last, mass, decay } of parts) {
    const tilted = range(last - first + 1).map((i) => -decay * i);
    const whole = logSum(tilted.map((one, i) => one + sizes[first + i]));
    tilted.forEach((one, i) => (weights[first + i] = one + Math.log(mass) - whole));
  }
  return weights;
}

// The least delta of a release at an epsilon, one member exchanged for somebody else (SWAP).
export function subsetDelta(retrieval, epsilon) {
  const { n, d, beta, scheme } = retrieval;
  if (scheme === "union") return 0 < d && d < n ? 1 - beta / n : 0;
  const parts = partsOfScheme(retrieval);
  const weights = logWeights(n, d, parts);
  const sizes = logSizes(n, d);
  let delta = 0;
  for (let a = 0; a + 1 < weights.length; a++) {
    const within = parts.find(({ first, last }) => first <= a && a < last);
    const drop = within ? within.decay : dropOf(weights[a], weights[a + 1]);
    const moved = sizes[a] + Math.log(((d - a) / d) * ((n - d - a) / (n - d)));
    delta += Math.exp(moved + weights[a]) * excess(epsilon - drop);
    delta += Math.exp(moved + weights[a + 1]) * excess(epsilon + drop);
  }
  return Math.min(1, delta);
}

const dropOf = (here, next) => (here === next ? 0 : here - next);
const excess = (exponent) => -Math.expm1(Math.min(exponent, 0));

// The probability of each number of errors: swaps, or for the union strangers added.
export function subsetErrors(retrieval) {
  const { n, d, beta, scheme } = retrieval;
  if (scheme === "union") return range(beta + 1).map((a) => hypergeometric(n, n - d, beta, a));
  const sizes = logSizes(n, d);
  return logWeights(n, d, partsOfScheme(retrieval)).map((weight, a) => Math.exp(weight + sizes[a]));
}

// P(a of `drawn` out of n are among `marked`).
function hypergeometric(n, marked, drawn, a) {
  if (a > marked || drawn - a > n - marked) return 0;
  const ways = logBinomial(marked, a) + logBinomial(n - marked, drawn - a);
  return Math.exp(ways - logBinomial(n, drawn));
}
