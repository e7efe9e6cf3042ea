// Zero-concentrated DP: what draws cost, and what several releases add up to.

import { total } from "./numbers.js";

const SLACK = 1 + 2 ** -40; // rounds upwards, as the library does

// Of any epsilon-DP release.
export const rhoOfPure = (epsilon) => Math.min(epsilon * Math.tanh(epsilon / 2) * SLACK, epsilon);

// Of Laplace noise and noisy maxima with it.
export function rhoOfLaplace(epsilon) {
  const series = epsilon * epsilon * (1 / 2 - epsilon / 6 + (epsilon * epsilon) / 24);
  return (epsilon < 2 ** -7 ? series : epsilon + Math.expm1(-epsilon)) * SLACK;
}

// Of the exponential mechanism, which is of bounded range.
export function rhoOfBoundedRange(epsilon) {
  const rest = -Math.expm1(-epsilon);
  const terms = [(epsilon * Math.exp(-epsilon)) / rest, -1, epsilon, Math.log(rest / epsilon)];
  const rho = total(terms) + 2 ** -49 * total(terms.map(Math.abs));
  return Math.min(rho, ((epsilon * epsilon) / 8) * SLACK);
}

// Of permute-and-flip: the largest divergence of two candidates that change places. It is concave
// in v, so that a tangent bounds it; small epsilons by a bounded range.
export function rhoOfPermuteAndFlip(epsilon) {
  if (epsilon < 2 ** -7) {
    return rhoOfBoundedRange(Math.max(2 * Math.log1p(2 * Math.expm1(epsilon / 2)) * SLACK, epsilon));
  }
  const furthest = Math.min(epsilon, Math.log(epsilon / 2 + 2));
  let [low, high] = [0, furthest];
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (slopeOfTwo(middle, epsilon) <= 0) high = middle;
    else low = middle;
  }
  const [b, q] = [Math.exp(-low) / 2, Math.exp(low - epsilon) / 2];
  const terms = [
    (1 - b) * (epsilon + Math.LN2 + Math.log1p(-b)),
    -b * (Math.LN2 + Math.log1p(-q)),
    -low,
    Math.abs(slopeOfTwo(low, epsilon)) * furthest,
  ];
  return Math.min(total(terms) + 2 ** -48 * total(terms.map(Math.abs)), epsilon);
}

function slopeOfTwo(v, epsilon) {
  const [b, q] = [Math.exp(-v) / 2, Math.exp(v - epsilon) / 2];
  const logOdds = epsilon + 2 * Math.LN2 + Math.log1p(-b) + Math.log1p(-q);
  return b * logOdds - (1 - b) + (q * b) / (1 - q);
}

// The least epsilon over all orders, such that rho-zCDP is (epsilon, delta)-DP.
export function epsilonOfRho(rho, delta) {
  if (rho === 0) return 0;
  const logInverse = -Math.log(delta);
  let low = Math.min(Math.sqrt(logInverse / rho / 2), Math.expm1(logInverse / 2));
  let high = Math.min(Math.sqrt(logInverse / rho), Math.expm1(logInverse));
  for (let step = 0; step < 60; step++) {
    const x = (low + high) / 2;
    if (rho * x * x + Math.log1p(x) < logInverse) low = x;
    else high = x;
  }
  const last = (logInverse - Math.log1p(high)) / high;
  const terms = [rho, rho * high, Math.log(high), -Math.log1p(high), last];
  return Math.max(0, total(terms) + (SLACK - 1) * total(terms.map(Math.abs)));
}
