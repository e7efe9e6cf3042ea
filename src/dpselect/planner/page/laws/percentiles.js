// Several percentiles: one by one and then sorted, or by the recursion of halves.

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

// The tree of draws: what each has as its part of epsilon and its percentile within its half.
export function halves(fractions, epsilon, first = 0, ends = [0, 1], level = 1) {
  if (fractions.length === 0) return null;
  const middle = fractions.length >> 1;
  const [low, high] = ends;
  const here = fractions[middle];
  const price = epsilon / Math.floor(Math.log2(2 * fractions.length));
  const left = epsilon - price;
  return {
    position: first + middle,
    fraction: (here - low) / (high - low),
    level,
    epsilon: price,
    below: halves(fractions.slice(0, middle), left, first, [low, here], level + 1),
    above: halves(
      fractions.slice(middle + 1), left, first + middle + 1, [here, high], level + 1,
    ),
  };
}

// Into how many parts records that share a value are split.
export const partsOf = (candidates) => Math.min(32, Math.max(4, Math.floor(2 ** 20 / candidates)));

// The laws of the recursion: every value and share that can be drawn is followed, but for
// those less likely than `cut`.
export function recursive(ranks, percents, epsilon, neighbours, draw, cut = 0) {
  const candidates = ranks.below.length;
  const laws = percents.map(() => new Array(candidates).fill(0));
  const parts = partsOf(candidates);
  const tree = halves(percents.map((p) => p / 100), epsilon);
  follow(tree, { weights: weightsOf(ranks), first: 0 }, 1);
  return laws;

  function follow(half, branch, chance) {
    const law = draw(halfScores(half, branch.weights, parts, neighbours), priceOf(half, neighbours));
    for (let chosen = 0; chosen < law.length; chosen++) {
      const candidate = Math.floor(chosen / (parts + 1));
      laws[half.position][branch.first + candidate] += chance * law[chosen];
    }
    if (!half.below && !half.above) return;
    for (const [candidate, part, share] of outcomes(law, branch.weights, parts)) {
      if (chance * share <= cut) continue;
      const sides = split(branch, candidate, part / parts);
      if (half.below) follow(half.below, sides[0], chance * share);
      if (half.above) follow(half.above, sides[1], chance * share);
    }
  }
}

// One outcome of the recursion: positions of candidates, by percentile. `pick` draws a position
// from a law.
export function drawHalves(ranks, percents, epsilon, neighbours, draw, pick) {
  const parts = partsOf(ranks.below.length);
  const chosen = [];
  follow(halves(percents.map((p) => p / 100), epsilon), { weights: weightsOf(ranks), first: 0 });
  return chosen;

  function follow(half, branch) {
    const scores = halfScores(half, branch.weights, parts, neighbours);
    const place = pick(draw(scores, priceOf(half, neighbours)));
    const candidate = Math.floor(place / (parts + 1));
    chosen[half.position] = branch.first + candidate;
    const sides = split(branch, candidate, (place % (parts + 1)) / parts);
    if (half.below) follow(half.below, sides[0]);
    if (half.above) follow(half.above, sides[1]);
  }
}

// Candidates and parts with their probabilities; parts of no record are one outcome.
function* outcomes(law, weights, parts) {
  for (let candidate = 0; candidate < weights.length >> 1; candidate++) {
    const shares = law.slice(candidate * (parts + 1), (candidate + 1) * (parts + 1));
    if (weights[2 * candidate + 1] === 0) yield [candidate, 0, total(shares)];
    else for (const part of range(parts + 1)) yield [candidate, part, shares[part]];
  }
}

// Records before the first candidate, equal to it, between it and the second, and so on.
function weightsOf({ below, upto, numbers }) {
  const edges = [0, ...below.flatMap((count, i) => [count, upto[i]]), numbers];
  return edges.slice(1).map((edge, i) => edge - edges[i]);
}

// Unit scores of every candidate with every share, shares innermost.
function halfScores(half, weights, parts, neighbours) {
  const wanted = half.fraction * (total(weights) + 1);
  const relation = half.level === 1 ? neighbours : "add-remove";
  const scores = new Float64Array((weights.length >> 1) * (parts + 1));
  for (let at = 1, below = weights[0], place = 0; at < weights.length; at += 2) {
    for (let part = 0; part <= parts; part++, place++) {
      scores[place] = -Math.abs(below + (weights[at] * part) / parts - wanted);
    }
    below += weights[at] + weights[at + 1];
  }
  return byGlobal(scores, rankBound(half.fraction, relation), false);
}

// Half of the price where a substitution pays twice, less what rounding to a grid takes.
function priceOf(half, neighbours) {
  const twice = neighbours === "substitute" && half.level > 1;
  const branches = 2 ** (half.level - 1);
  const rounding = (STEPS + ROUNDING) / (STEPS + branches * ROUNDING);
  return (half.epsilon / (twice ? 2 : 1)) * rounding;
}

const STEPS = 2 ** 20; // steps of the draws' grid in one unit
const ROUNDING = 5; // that rounding adds to them

function split({ weights, first }, candidate, share) {
  const below = weights.slice(0, 2 * candidate + 3);
  const above = weights.slice(2 * candidate);
  below[below.length - 2] *= share;
  above[1] *= 1 - share;
  below[below.length - 1] = above[0] = 0;
  return [{ weights: below, first }, { weights: above, first: first + candidate }];
}
