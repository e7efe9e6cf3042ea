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
// At the ends of all, half a record of a half is beyond the percentiles 0 and 100.
export function halves(
  fractions, epsilon, first = 0, ends = [0, 1], level = 1, beyond = [0.5, 0.5],
) {
  if (fractions.length === 0) return null;
  const middle = fractions.length >> 1;
  const [low, high] = ends;
  const here = fractions[middle];
  const price = epsilon / Math.floor(Math.log2(2 * fractions.length));
  const left = epsilon - price;
  return {
    position: first + middle,
    fraction: (here - low) / (high - low),
    beyond,
    level,
    epsilon: price,
    below: halves(
      fractions.slice(0, middle), left, first, [low, here], level + 1, [beyond[0], 0],
    ),
    above: halves(
      fractions.slice(middle + 1), left, first + middle + 1, [here, high], level + 1,
      [0, beyond[1]],
    ),
  };
}

// Into how many parts the records of a place are split; few where no draw follows.
export function partsOf(half, candidates) {
  if (!half.below && !half.above) return 5;
  return Math.min(64, Math.max(4, Math.floor(2 ** 22 / candidates)));
}

// The laws of the recursion: every place and share that can be drawn is followed, but for
// those less likely than `cut`.
export function recursive(ranks, percents, epsilon, neighbours, draw, cut = 0) {
  const candidates = ranks.below.length;
  const laws = percents.map(() => new Array(candidates).fill(0));
  const tree = halves(percents.map((p) => p / 100), epsilon);
  follow(tree, { weights: weightsOf(ranks), first: 0 }, 1);
  return laws;

  function follow(half, branch, chance) {
    const parts = partsOf(half, candidates);
    const law = draw(halfScores(half, branch.weights, parts, neighbours), priceOf(half, neighbours));
    for (let place = 0, drawn = 0; place < branch.weights.length; place++) {
      for (let part = 0; part <= parts; part++, drawn++) {
        laws[half.position][branch.first + place] += chance * law[drawn];
      }
    }
    if (!half.below && !half.above) return;
    law.forEach((share, drawn) => {
      if (chance * share <= cut) return;
      const sides = split(branch, Math.floor(drawn / (parts + 1)), (drawn % (parts + 1)) / parts);
      if (half.below) follow(half.below, sides[0], chance * share);
      if (half.above) follow(half.above, sides[1], chance * share);
    });
  }
}

// One outcome of the recursion: positions of candidates, by percentile. `pick` draws a position
// from a law.
export function drawHalves(ranks, percents, epsilon, neighbours, draw, pick) {
  const candidates = ranks.below.length;
  const chosen = [];
  const tree = halves(percents.map((p) => p / 100), epsilon);
  follow(tree, { weights: weightsOf(ranks), first: 0 });
  return chosen;

  function follow(half, branch) {
    const parts = partsOf(half, candidates);
    const scores = halfScores(half, branch.weights, parts, neighbours);
    const drawn = pick(draw(scores, priceOf(half, neighbours)));
    const place = Math.floor(drawn / (parts + 1));
    const share = (drawn % (parts + 1)) / parts;
    chosen[half.position] = branch.first + place;
    const sides = split(branch, place, share);
    if (half.below) follow(half.below, sides[0]);
    if (half.above) follow(half.above, sides[1]);
  }
}

// Records that count at each candidate.
function weightsOf({ below, upto }) {
  return upto.map((count, i) => count - below[i]);
}

// Unit scores of every place with every share, shares innermost: minus the distance of the wanted
// rank from those of the share, half a part of the weight on both sides of it.
function halfScores(half, weights, parts, neighbours) {
  const [before, after] = half.beyond;
  const wanted = before + half.fraction * (total(weights) - before - after);
  const relation = half.level === 1 ? neighbours : "add-remove";
  const scores = new Float64Array(weights.length * (parts + 1));
  for (let at = 0, below = 0, place = 0; at < weights.length; at++) {
    for (let part = 0; part <= parts; part++, place++) {
      const low = below + (weights[at] * Math.max(2 * part - 1, 0)) / (2 * parts);
      const high = below + (weights[at] * Math.min(2 * part + 1, 2 * parts)) / (2 * parts);
      scores[place] = Math.min(high - wanted, wanted - low, 0);
    }
    below += weights[at];
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

function split({ weights, first }, place, share) {
  const below = weights.slice(0, place + 1);
  const above = weights.slice(place);
  below[place] *= share;
  above[0] *= 1 - share;
  return [{ weights: below, first }, { weights: above, first: first + place }];
}
