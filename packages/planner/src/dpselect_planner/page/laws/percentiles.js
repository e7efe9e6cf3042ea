// Several percentiles: one by one and then sorted.

import { byGlobal } from "./by_global.js";
import { range, total } from "./numbers.js";
import { rankBound, rankScores } from "./percentile.js";

// The laws of the sorted values, ascending, of percentiles drawn with epsilon / m each.
export function oneByOne(ranks, percents, epsilon, neighbours, draw) {
  const drawn = percents.map((p) => {
    const scores = byGlobal(rankScores(ranks, p), rankBound(p / 100, neighbours), false);
    return runningSums(draw(scores, epsilon / percents.length));
  });
  // At least i of the values are at or below a candidate: a Poisson binomial.
  const upTo = ranks.below.map((_, candidate) => atLeast(drawn.map((sums) => sums[candidate])));
  return percents.map((_, i) => differences(upTo.map((chances) => chances[i])));
}

function runningSums(law) {
  let sum = 0;
  return law.map((chance) => (sum += chance));
}

const differences = (sums) => sums.map((sum, i) => sum - (i ? sums[i - 1] : 0));

// P(at least 1, 2, ... of independent events).
function atLeast(chances) {
  let counts = [1];
  for (const chance of chances) {
    counts = range(counts.length + 1).map(
      (i) => (counts[i] ?? 0) * (1 - chance) + (counts[i - 1] ?? 0) * chance,
    );
  }
  return chances.map((_, i) => total(counts.slice(i + 1)));
}
