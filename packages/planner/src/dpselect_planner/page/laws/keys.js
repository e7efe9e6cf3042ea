// Partition selection: the probability that a key is shown, by how many people have it.

import { logBinomial, range, total } from "./numbers.js";
import { epsilonOfRho } from "./zcdp.js";

const MARGIN = 1e-9; // on the safe side of rounding
const SPLITS = 50; // ways to split epsilon or delta that are tried

// Each method: the probability by the number of people, and the least number for one half.
// `changed` is the number of keys that one step changes, each by one person.
export const KEY_METHODS = { optimal, laplace, gaussian };

// pi(n + 1) = min(e^eps pi(n) + delta, 1 - e^-eps (1 - pi(n) - delta), 1).
export function optimal(epsilon, delta, changed) {
  const [each, step] = changed === 1 ? [epsilon, delta] : bestSplit(epsilon, delta, changed);
  const table = [0];
  while (table.at(-1) < 1) {
    const last = table.at(-1);
    const grown = Math.exp(each) * last + step;
    table.push(Math.min(grown, 1 - Math.exp(-each) * (1 - last - step), 1));
  }
  return {
    shown: (people) => table[Math.min(people, table.length - 1)],
    half: table.findIndex((chance) => chance >= 0.5),
  };
}

// Discrete Laplace noise on every count and a threshold.
export function laplace(epsilon, delta, changed) {
  const scale = changed / epsilon;
  const side = 1 + Math.exp(-1 / scale);
  const z = scale * (-Math.log(eachOf(delta, changed)) - Math.log(side));
  const threshold = 1 + Math.max(1, Math.ceil(z + MARGIN * (1 + Math.abs(z))));
  const tail = (d) => Math.exp(-Math.max(d, 0) / scale) / side;
  return {
    shown(people) {
      const below = threshold - people;
      if (people <= 0) return 0;
      return below >= 1 ? tail(below) : 1 - tail(1 - below);
    },
    half: threshold,
  };
}

// Discrete Gaussian noise, whose share of delta is the one of the least threshold.
export function gaussian(epsilon, delta, changed) {
  const options = range(SPLITS).map((i) => {
    const share = 0.005 + (i * (0.995 - 0.005)) / (SPLITS - 1);
    const sigma = Math.sqrt(changed / (2 * rhoFor(epsilon, share * delta))) * (1 + MARGIN);
    const each = eachOf((1 - share) * delta * (1 - MARGIN), changed);
    const tails = gaussianTails(sigma);
    const z = 1 + tails.slice(1).findIndex((tail) => tail * (1 + MARGIN) <= each);
    return { sigma, threshold: 1 + z, tails };
  });
  const better = (a, b) => a.threshold - b.threshold || a.sigma - b.sigma;
  const { threshold, tails } = options.sort(better)[0];
  const tail = (z) => tails[Math.min(z, tails.length - 1)];
  return {
    shown(people) {
      if (people <= 0) return 0;
      return people <= threshold ? tail(threshold - people) : 1 - tail(1 + people - threshold);
    },
    half: threshold,
  };
}

// P(Z >= z) for z from 0 on.
function gaussianTails(sigma) {
  const mass = range(Math.ceil(40 * sigma) + 2).map((z) => Math.exp(-(z * z) / (2 * sigma * sigma)));
  const whole = 2 * total(mass.slice(1)) + 1;
  let sum = 0;
  return mass.reverse().map((one) => (sum += one)).reverse().map((tail) => tail / whole);
}

// The largest rho that is (epsilon, delta)-DP.
function rhoFor(epsilon, delta) {
  let [low, high] = [0, epsilon];
  for (let step = 0; step < 80; step++) {
    const middle = (low + high) / 2;
    [low, high] = epsilonOfRho(middle, delta) <= epsilon ? [middle, high] : [low, middle];
  }
  return low;
}

const eachOf = (delta, times) =>
  times === 1 ? delta : -Math.expm1(Math.log1p(-delta) / times) * (1 - 2 ** -40);

// Epsilon and delta of one of several keys, for which one half is reached soonest.
function bestSplit(epsilon, delta, times) {
  const least = (epsilon / times) * (1 - MARGIN);
  let [best, soonest] = [[least, eachOf(delta * (1 - MARGIN), times)], Infinity];
  for (const i of range(SPLITS)) {
    const each = least * times ** (i / (SPLITS - 1));
    const spent = i === 0 ? 0 : composedDelta(epsilon, each, times) * (1 + 1e-6);
    if (spent >= delta) continue;
    const rest = -Math.expm1((Math.log1p(-delta) - Math.log1p(-spent)) / times) * (1 - MARGIN);
    const half = Math.log1p(Math.expm1(each) / (2 * rest)) / each;
    if (half < soonest) [best, soonest] = [[each, rest], half];
  }
  return best;
}

// The exact delta of several epsilon'-DP releases together.
function composedDelta(epsilon, each, times) {
  const logOdds = each + Math.log1p(Math.exp(-each));
  return total(
    range(times + 1).map((j) => {
      const gap = epsilon - (times - 2 * j) * each;
      const logFirst = (times - j) * each + logBinomial(times, j) - times * logOdds;
      return gap < 0 ? -Math.exp(logFirst) * Math.expm1(gap) : 0;
    }),
  );
}
