// The k largest of noisy scores: who is among them, and whether they are the right ones.

import { largest, range } from "./numbers.js";

// Rounds of the exponential mechanism without replacement at epsilon / k each are a race of
// exponential clocks of rates exp(epsilon s_r / 2k). Yields one stretch of time after another:
// the mass of each candidate to arrive there, and its probability to arrive before.
export function* clocks(scores, epsilon, k) {
  const best = largest(scores);
  const logRates = scores.map((score) => ((score - best) * epsilon) / (2 * k));
  const last = [...logRates].sort((a, b) => b - a)[k - 1];
  for (let at = FIRST; at <= Math.log(NEGLIGIBLE) - last + STEP; at += STEP) {
    const ahead = logRates.map((rate) => -Math.expm1(-Math.exp(rate + at)));
    const mass = logRates.map((rate) => STEP * Math.exp(rate + at - Math.exp(rate + at)));
    yield { mass, earlier: ahead, later: ahead };
  }
}

const STEP = 0.1; // of the logarithm of time; the trapezoidal rule errs by exp(-9.8 / STEP)
const FIRST = -42; // before exp(FIRST) nobody arrives
const NEGLIGIBLE = 45;

// Discrete Laplace noise on every count: one value after another, of those near some of the
// `around` counts. Of equal values the earlier candidate is first.
export function* noisyValues(counts, scale, around = counts) {
  const reach = Math.ceil(NEGLIGIBLE * scale) + 1;
  let next = -Infinity;
  for (const near of [...around].sort((a, b) => a - b)) {
    for (let x = Math.max(next, near - reach); x <= near + reach; x++) {
      const mass = counts.map((count) => massAt(x - count, scale));
      const earlier = counts.map((count) => atLeast(x - count, scale));
      const later = counts.map((count) => atLeast(x + 1 - count, scale));
      yield { mass, earlier, later };
    }
    next = near + reach + 1;
  }
}

const massAt = (z, scale) => Math.tanh(0.5 / scale) * Math.exp(-Math.abs(z) / scale);

// P(Z >= z) of discrete Laplace noise.
function atLeast(z, scale) {
  const tail = (d) => Math.exp(-d / scale) / (1 + Math.exp(-1 / scale));
  return z > 0 ? tail(z) : 1 - tail(1 - z);
}

// The probability of each of n candidates to be among the first k.
export function inclusion(race, n, k) {
  const law = new Array(n).fill(0);
  for (const { mass, earlier, later } of race) {
    const after = new Array(n);
    let state = noneAhead(k);
    for (let r = n - 1; r >= 0; r--) {
      after[r] = runningSums(state);
      state = oneMore(state, later[r]);
    }
    state = noneAhead(k);
    for (let r = 0; r < n; r++) {
      let first = 0;
      for (let i = 0; i < k; i++) first += state[i] * after[r][k - 1 - i];
      law[r] += mass[r] * first;
      state = oneMore(state, earlier[r]);
    }
  }
  return law;
}

const noneAhead = (k) => Float64Array.from(range(k), (i) => (i === 0 ? 1 : 0));

function runningSums(values) {
  let sum = 0;
  return values.map((value) => (sum += value));
}

// The law of the number ahead with one more candidate; k and more are lost.
function oneMore(state, ahead) {
  return state.map((chance, i) => chance * (1 - ahead) + (i ? state[i - 1] * ahead : 0));
}

// The probability that all chosen candidates come before all others, by a pivot: the last of
// the chosen, or the first of the others. The race must go on until each pivot has arrived.
export function allBefore(race, chosen, pivot = "chosen") {
  const n = chosen.length;
  let sum = 0;
  for (const { mass, earlier, later } of race) {
    const after = new Float64Array(n + 1).fill(1);
    for (let r = n - 1; r >= 0; r--) after[r] = after[r + 1] * inPlace(later[r], chosen[r]);
    let before = 1;
    for (let r = 0; r < n; r++) {
      if (chosen[r] === (pivot === "chosen")) sum += mass[r] * before * after[r + 1];
      before *= inPlace(earlier[r], chosen[r]);
    }
  }
  return Math.min(sum, 1);
}

const inPlace = (ahead, chosen) => (chosen ? ahead : 1 - ahead);

// The same for discrete Laplace noise on counts, of which only values near the best of the
// others matter.
export function allBeforeBest(counts, scale, chosen) {
  const others = counts.filter((_, r) => !chosen[r]);
  if (others.length === 0) return 1;
  return allBefore(noisyValues(counts, scale, [largest(others)]), chosen, "others");
}
