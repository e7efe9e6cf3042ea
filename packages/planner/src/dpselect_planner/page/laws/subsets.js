// Private subset retrieval: the exact delta of laws of the number of swaps.

import { logFactorial, logSum, range } from "./numbers.js";

// ln of the number of subsets at each distance from a given one: C(d, a) C(n - d, a).
function logSizes(n, d) {
  const whole = logFactorial(d) + logFactorial(n - d);
  return range(Math.min(d, n - d) + 1).map(
    (a) => whole - logFactorial(d - a) - logFactorial(n - d - a) - 2 * logFactorial(a),
  );
}

// The distances of a scheme, from 0 to the last one, and its decay for a swap.
function partOfScheme({ n, d, beta, epsilon, scheme }) {
  const most = Math.min(d, n - d);
  const last = scheme === "pure" ? most : Math.min(beta, most);
  return { last, decay: scheme === "ball" ? 0 : epsilon };
}

// ln of the probability of each subset at a distance; -Infinity where it is impossible.
function logWeights(sizes, { last, decay }) {
  const whole = logSum(sizes.slice(0, last + 1).map((size, a) => size - decay * a));
  return sizes.map((_, a) => (a <= last ? -decay * a - whole : -Infinity));
}

// The least delta of a release at an epsilon, one member exchanged for somebody else (SWAP).
export function subsetDelta(retrieval, epsilon) {
  const { n, d } = retrieval;
  const part = partOfScheme(retrieval);
  const sizes = logSizes(n, d);
  const weights = logWeights(sizes, part);
  let delta = 0;
  for (let a = 0; a + 1 < weights.length; a++) {
    const drop = a < part.last ? part.decay : dropOf(weights[a], weights[a + 1]);
    const moved = sizes[a] + Math.log(((d - a) / d) * ((n - d - a) / (n - d)));
    delta += Math.exp(moved + weights[a]) * excess(epsilon - drop);
    delta += Math.exp(moved + weights[a + 1]) * excess(epsilon + drop);
  }
  return Math.min(1, delta);
}

const dropOf = (here, next) => (here === next ? 0 : here - next);
const excess = (exponent) => -Math.expm1(Math.min(exponent, 0));

// The probability of each number of swaps.
export function subsetErrors(retrieval) {
  const sizes = logSizes(retrieval.n, retrieval.d);
  return logWeights(sizes, partOfScheme(retrieval)).map((weight, a) => Math.exp(weight + sizes[a]));
}
