// Local dampening: scores measured in accumulated local sensitivities.

// `deltas[t][r]` is the sensitivity of candidate r at distance t; the bound holds beyond.
// D is piecewise linear with D(b_i) = i, b_i = sum_{j < i} delta(j), and odd; a score of 0 has the
// number of leading sensitivities that are 0, up to a public one.
const LONGEST_LEAD = 4096;

export function dampened(scores, deltas, bound) {
  return scores.map((score, r) => {
    const height = Math.abs(score);
    let [start, steps] = [0, 0];
    if (height === 0) {
      while (steps < Math.min(deltas.length, LONGEST_LEAD) && deltas[steps][r] === 0) steps += 1;
      return steps;
    }
    while (steps < deltas.length && start + deltas[steps][r] < height) {
      start += deltas[steps][r];
      steps += 1;
    }
    const width = steps < deltas.length ? deltas[steps][r] : bound;
    return Math.sign(score) * (steps + (height - start) / width);
  });
}
