// Randomised response of two answers: the true one with odds e^epsilon against the other.

export function randomisedResponse(epsilon) {
  const lie = 1 / (Math.exp(epsilon) + 1);
  return [Math.exp(epsilon) * lie, lie];
}
