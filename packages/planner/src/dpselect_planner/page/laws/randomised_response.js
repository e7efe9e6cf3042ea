// Randomised response: everybody answers truly with odds e^epsilon against each other answer.

export function randomisedResponse(epsilon, answers, truth) {
  const lie = 1 / (Math.exp(epsilon) + answers - 1);
  return Array.from({ length: answers }, (_, answer) =>
    answer === truth ? Math.exp(epsilon) * lie : lie,
  );
}
