// Shifted local dampening: the limit of dampened scores under a large shift.

// `deltas` as for `dampened`, where candidates with larger scores have larger sensitivities.
export function shifted(scores, deltas, bound) {
  return scores.map((score, r) => {
    const shortfall = deltas.reduce((sum, delta) => sum + bound - delta[r], 0);
    return (score - shortfall) / bound;
  });
}
