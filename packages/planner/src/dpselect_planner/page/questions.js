// Choices to plan for: the law of what is drawn, and what is a success.

import { pick, pickNoisy, pickRounds } from "./drawing.js";
import { byGlobal } from "./laws/by_global.js";
import { dampened } from "./laws/dampened.js";
import { exponential } from "./laws/exponential.js";
import { generalized, penalty } from "./laws/generalized.js";
import { KEY_METHODS } from "./laws/keys.js";
import { noisyMax } from "./laws/noisy_max.js";
import { largest, range, smallest, total } from "./laws/numbers.js";
import { placed, rankBound, rankScores } from "./laws/percentile.js";
import { oneByOne } from "./laws/percentiles.js";
import { permuteAndFlip } from "./laws/permute_and_flip.js";
import { randomisedResponse } from "./laws/randomised_response.js";
import { shifted } from "./laws/shifted.js";
import { subsetDelta, subsetErrors } from "./laws/subsets.js";
import { allBefore, allBeforeBest, clocks, inclusion, noisyValues } from "./laws/top_k.js";
import { rhoOfBoundedRange, rhoOfLaplace, rhoOfPermuteAndFlip, rhoOfPure } from "./laws/zcdp.js";

export const DRAWS = { "permute-and-flip": permuteAndFlip, exponential, "noisy-max": noisyMax };
const OF_ONE = Object.keys(DRAWS);
const MOST_STEPS = 2 ** 24; // of the law of a noisy sequence
const GAUSSIAN_FROM = 4; // keys of a person from which on Gaussian noise can be the best

// What one release costs under zCDP.
function rhoOf(name, epsilon) {
  if (name === "permute-and-flip") return rhoOfPermuteAndFlip(epsilon);
  if (name === "noisy-max") return rhoOfLaplace(epsilon);
  const boundedRange = ["exponential", "local-dampening", "shifted", "generalized"];
  return boundedRange.includes(name) ? rhoOfBoundedRange(epsilon) : rhoOfPure(epsilon);
}

// The probability of a gap of at most `within`, and the mean gap.
function outcomeOf(law, gaps, within) {
  const near = within * (1 + 2 ** -40);
  return {
    success: total(law.filter((_, r) => gaps[r] <= near)),
    error: total(law.map((chance, r) => chance * gaps[r])),
  };
}

// Every question has: mechanisms (the usual one first), unit (of errors), people (null if the
// data cannot be scaled), labels, law and best for the bars, outcome, rho, of(people),
// drawn (one outcome in words, and whether it is a success), and success where that alone is
// faster than outcome.

export function mostCommon({ labels, counts, k = 1, within = 0, neighbours }) {
  const monotone = neighbours === "add-remove";
  const unitScores = byGlobal(counts, 1, monotone);
  const order = range(counts.length).sort((a, b) => counts[b] - counts[a] || a - b);
  const best = counts.map((_, r) => order.indexOf(r) < k);
  const whole = counts.map((count) => Math.floor(count + 0.5));
  const scale = (epsilon) => (monotone ? 1 : 2) / epsilon;

  function law(mechanism, epsilon) {
    const n = counts.length;
    if (k === 1) return DRAWS[mechanism](unitScores, epsilon);
    if (mechanism === "exponential") return inclusion(clocks(unitScores, epsilon, k), n, k);
    const values = largest(whole) - whole[order[k - 1]] + 90 * scale(epsilon);
    if (n * k * values > MOST_STEPS) return counts.map(() => NaN);
    return inclusion(noisyValues(whole, scale(epsilon)), n, k);
  }

  function success(mechanism, epsilon) {
    if (mechanism === "exponential") return allBefore(clocks(unitScores, epsilon, k), best);
    return allBeforeBest(whole, scale(epsilon), best);
  }

  const people = total(counts);
  return {
    mechanisms: k === 1 ? OF_ONE : ["exponential", "noisy-sequence"],
    unit: "people",
    people,
    labels,
    best,
    law,
    success: k === 1 ? null : success,
    drawn(mechanism, epsilon) {
      const places = k === 1 ? [pick(law(mechanism, epsilon))]
        : mechanism === "exponential" ? pickRounds(unitScores, epsilon, k)
          : pickNoisy(whole, scale(epsilon), k);
      const right = k === 1 ? counts[places[0]] >= largest(counts) - within : places.every((r) => best[r]);
      return { words: places.map((r) => labels[r]).join(", "), right };
    },
    outcome(mechanism, epsilon) {
      const chances = law(mechanism, epsilon);
      if (k === 1) return outcomeOf(chances, counts.map((count) => largest(counts) - count), within);
      const drawn = total(counts.map((count, r) => chances[r] * count));
      const error = (total(counts.filter((_, r) => best[r])) - drawn) / k;
      return { success: success(mechanism, epsilon), error };
    },
    rho(mechanism, epsilon) {
      // With l1 of 2 each count moves by half of it.
      const share = monotone ? 1 : 0.5;
      if (mechanism === "noisy-sequence") return rhoOfPure(epsilon * share) / share;
      return k * rhoOf(mechanism, epsilon / k);
    },
    of: (more) => mostCommon({
      labels, k, within, neighbours, counts: counts.map((count) => (count * more) / people),
    }),
  };
}

export function bestScore({ labels, scores, bound, bounds = null, local = [], monotone, within = 0, unit }) {
  const most = bounds ? largest(bounds) : bound;
  const unitScores = byGlobal(scores, most, monotone);
  const gaps = scores.map((score) => largest(scores) - score);
  const laws = {
    ...Object.fromEntries(OF_ONE.map((name) => [name, (epsilon) => DRAWS[name](unitScores, epsilon)])),
    ...(bounds && {
      generalized: (epsilon) =>
        exponential(generalized(scores, bounds, penalty(scores.length, epsilon)), epsilon),
    }),
    ...(local.length > 0 && {
      "local-dampening": (epsilon) => exponential(dampened(scores, local, most), epsilon),
      shifted: (epsilon) => exponential(shifted(scores, local, most), epsilon),
    }),
  };
  return {
    mechanisms: Object.keys(laws),
    unit: unit || "score units",
    people: null,
    labels,
    best: gaps.map((gap) => gap === 0),
    law: (mechanism, epsilon) => laws[mechanism](epsilon),
    drawn(mechanism, epsilon) {
      const place = pick(laws[mechanism](epsilon));
      return { words: labels[place], right: gaps[place] <= within };
    },
    outcome: (mechanism, epsilon) => outcomeOf(laws[mechanism](epsilon), gaps, within),
    rho: rhoOf,
  };
}

export function percentile({ values, counts, candidates, p, within = 0, neighbours, unit }) {
  const people = total(counts);
  const ranks = ranksOfCounts(values, counts, candidates);
  const scores = p.map((one) => rankScores(ranks, one));
  const distances = scores.map((of) => {
    const top = largest(of);
    const best = candidates.filter((_, i) => of[i] === top);
    return candidates.map((one) => smallest(best.map((other) => Math.abs(one - other))));
  });

  function laws(mechanism, epsilon) {
    return oneByOne(ranks, p, epsilon, neighbours, DRAWS[mechanism]);
  }

  function oneByOneDrawn(name, epsilon) {
    const alone = p.map((one) => oneByOne(ranks, [one], epsilon / p.length, neighbours, DRAWS[name])[0]);
    return alone.map((law) => pick(law)).sort((a, b) => a - b);
  }

  return {
    mechanisms: OF_ONE.slice(0, 1),
    unit: unit || "units",
    people,
    labels: candidates.map(String),
    best: candidates.map((_, i) => distances.some((of) => of[i] === 0)),
    law(mechanism, epsilon) {
      const rows = laws(mechanism, epsilon);
      return candidates.map((_, i) => total(rows.map((row) => row[i])));
    },
    drawn(mechanism, epsilon) {
      const places = oneByOneDrawn(mechanism, epsilon);
      const right = places.every((place, i) => distances[i][place] <= within);
      return { words: places.map((place) => candidates[place]).join(", "), right };
    },
    outcome(mechanism, epsilon) {
      const each = laws(mechanism, epsilon).map((law, i) => outcomeOf(law, distances[i], within));
      return {
        success: smallest(each.map((one) => one.success)),
        error: total(each.map((one) => one.error)) / each.length,
      };
    },
    // A part of epsilon is for the noisy number of records, by which the method is chosen.
    rho(mechanism, epsilon) {
      const number = 0.06 * Math.min(p.length, 2) * epsilon;
      return rhoOfPure(number) + rhoOfPure(epsilon - number);
    },
    of: (more) => percentile({
      values, candidates, p, within, neighbours, unit,
      counts: counts.map((count) => (count * more) / people),
    }),
  };
}

// Ranks of candidates among different ascending values that so many people have.
function ranksOfCounts(values, counts, candidates) {
  const people = new Map(); // by the candidate that they count at, ascending
  placed(values, candidates).forEach((one, i) => {
    if (counts[i] > 0) people.set(one, (people.get(one) ?? 0) + counts[i]);
  });
  const [held, upto] = [[...people.keys()], [0]];
  people.forEach((count) => upto.push(upto.at(-1) + count));
  const [lowest, highest] = [smallest(candidates), largest(candidates)];
  const places = candidates.map((one) => {
    const left = held.findIndex((value) => value >= one);
    const below = left < 0 ? held.length : left;
    return { below, above: held[below] === one ? below + 1 : below };
  });
  const share = candidates.map((one, i) => {
    const low = Math.max(held[places[i].below - 1] ?? -Infinity, lowest);
    const high = Math.min(held[places[i].above] ?? Infinity, highest);
    return high > low ? (one - low) / (high - low) : 0.5;
  });
  return {
    below: places.map((place) => upto[place.below]),
    upto: places.map((place) => upto[place.above]),
    share,
    numbers: Math.round(total(counts)),
  };
}

export function keys({ people, delta, perUser, neighbours }) {
  const changed = perUser * (neighbours === "substitute" ? 2 : 1);
  const kept = new Map(); // laws by mechanism and epsilon, which of() shares
  const lawOf = (mechanism, epsilon) => {
    const name = `${mechanism} ${epsilon}`;
    if (!kept.has(name)) kept.set(name, KEY_METHODS[mechanism](epsilon, delta, changed));
    return kept.get(name);
  };
  const question = (number) => ({
    mechanisms: ["optimal", "laplace", ...(changed >= GAUSSIAN_FROM ? ["gaussian"] : [])],
    unit: "",
    people: number,
    half: (mechanism, epsilon) => lawOf(mechanism, epsilon).half,
    shown: (mechanism, epsilon, of) => lawOf(mechanism, epsilon).shown(of),
    outcome: (mechanism, epsilon) => ({
      success: lawOf(mechanism, epsilon).shown(Math.trunc(number)),
      error: NaN,
    }),
    rho: null,
    of: question,
  });
  return question(people);
}

export function subset({ n, d, beta, delta }) {
  const retrieval = (scheme, epsilon) => ({ n, d, beta, epsilon, scheme });
  return {
    mechanisms: ["optimal", "pure", "ball"],
    unit: "delta",
    people: null,
    law: (scheme, epsilon) => subsetErrors(retrieval(scheme, epsilon)),
    drawn(scheme, epsilon) {
      const errors = pick(subsetErrors(retrieval(scheme, epsilon)));
      return { words: `${errors} swaps`, right: errors <= beta };
    },
    outcome(scheme, epsilon) {
      const error = subsetDelta(retrieval(scheme, epsilon), epsilon);
      const errors = subsetErrors(retrieval(scheme, epsilon)).slice(0, beta + 1);
      return { success: error <= delta ? Math.min(1, total(errors)) : 0, error };
    },
    rho: null,
  };
}

export function response() {
  return {
    mechanisms: ["randomised-response"],
    unit: "",
    people: null,
    labels: ["the true answer", "the other one"],
    best: [true, false],
    law: (_, epsilon) => randomisedResponse(epsilon),
    drawn(_, epsilon) {
      const place = pick(randomisedResponse(epsilon));
      return { words: ["true", "flipped"][place], right: place === 0 };
    },
    outcome: (_, epsilon) => ({ success: randomisedResponse(epsilon)[0], error: NaN }),
    rho: rhoOf,
  };
}
