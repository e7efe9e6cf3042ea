// A percentile by rank: the score of a public candidate is how far inside of its ranks the
// wanted one is, below 0 if it is outside.

// The candidates that values count at: the nearest one of each, halfway the larger one.
export function placed(values, candidates) {
  const ascending = Float64Array.from(new Set(candidates)).sort();
  const starts = ascending.slice(1).map((one, i) => ascending[i] / 2 + one / 2);
  return Array.from(values, (one) => ascending[countUpTo(starts, one)]);
}

function countUpTo(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    [low, high] = sorted[middle] <= value ? [middle + 1, high] : [low, middle];
  }
  return low;
}

// What one step changes of a score: one record added or removed, or one replaced.
export const rankBound = (fraction, neighbours) =>
  neighbours === "substitute" ? 1 : Math.max(fraction, 1 - fraction);

// Ranks around those of its records that a candidate holds.
const AROUND = 1 / 64;

// Ranks between two values are interpolated; u = min(high - wanted, wanted - low) for the rank
// of NumPy's percentile.
export function rankScores({ below, upto, share, numbers }, p) {
  const wanted = 1 + (p / 100) * (numbers - 1);
  return below.map((count, i) => {
    const held = upto[i] > count;
    const between = Math.min(Math.max(share[i], AROUND), 1 - AROUND);
    const low = held ? count + 1 - AROUND : count + between;
    const high = held ? upto[i] + AROUND : low;
    return Math.min(high - wanted, wanted - low);
  });
}
