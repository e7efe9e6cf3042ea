// Outcomes drawn by a law, to look at and never to publish.

import { exponential } from "./laws/exponential.js";
import { range, total } from "./laws/numbers.js";

// A position, drawn by a law.
export function pick(law, random = Math.random) {
  let left = random() * total(law);
  const place = law.findIndex((chance) => (left -= chance) < 0);
  return place < 0 ? law.length - 1 : place;
}

// k positions by rounds of the exponential mechanism without replacement.
export function pickRounds(scores, epsilon, k) {
  const left = range(scores.length);
  return range(k).map(() => {
    const law = exponential(left.map((r) => scores[r]), epsilon / k);
    return left.splice(pick(law), 1)[0];
  });
}

// The k positions of the largest counts with discrete Laplace noise.
export function pickNoisy(counts, scale, k) {
  const geometric = () => Math.floor(-scale * Math.log1p(-Math.random()));
  const noisy = counts.map((count) => count + geometric() - geometric());
  return range(counts.length).sort((a, b) => noisy[b] - noisy[a] || a - b).slice(0, k);
}
