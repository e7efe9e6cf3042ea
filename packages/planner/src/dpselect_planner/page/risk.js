// Risk to one individual, of one release or of several at the same epsilon.

import { epsilonOfRho, rhoOfPure } from "./laws/zcdp.js";

// zCDP of any pure release.
export const oneRho = rhoOfPure;

export function riskOf(question, mechanism, { releases, epsilon, delta }) {
  const rho = question?.rho ? question.rho(mechanism, epsilon) : rhoOfPure(epsilon);
  const sum = releases * epsilon;
  const zcdp = delta > 0 ? epsilonOfRho(releases * rho, delta) : Infinity;
  const together = Math.min(sum, zcdp);
  // Two steps, such as what somebody says who is known to be there, under add-remove.
  const ofValue = 1 / (1 + Math.exp(-2 * together));
  return { sum, zcdp, epsilon: together, odds: Math.exp(together), posterior: 1 / (1 + Math.exp(-together)), of_value: ofValue };
}
