// Zero-concentrated DP: what draws cost, and what several releases add up to.

import { total } from "./numbers.js";

const SLACK = 1 + 2 ** -40; // rounds upwards, as the library does

// Of any epsilon-DP release.
export const rhoOfPure = (epsilon) => Math.min(epsilon * Math.tanh(epsilon / 2) * SLACK, epsilon);

// Of permute-and-flip and Laplace noise.
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
