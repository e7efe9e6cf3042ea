// Sums, factorials and quadrature that the laws share.

export function total(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i];
  return sum;
}

export function largest(values) {
  let most = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] > most) most = values[i];
  return most;
}

export const smallest = (values) => -largest(values.map((value) => -value));
export const range = (length) => Array.from({ length }, (_, i) => i);

export function normalised(weights) {
  const whole = total(weights);
  return weights.map((weight) => weight / whole);
}

export function logSum(logs) {
  const top = largest(logs);
  return top + Math.log(total(logs.map((one) => Math.exp(one - top))));
}

const factorials = [0];

// ln n! of an integer, by a sum that is kept.
export function logFactorial(n) {
  while (factorials.length <= n) {
    factorials.push(factorials.at(-1) + Math.log(factorials.length));
  }
  return factorials[n];
}

export const logBinomial = (n, k) => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

const rules = new Map();

// Nodes and weights of Gauss-Legendre quadrature on [-1, 1].
export function gaussLegendre(order) {
  if (!rules.has(order)) rules.set(order, newRule(order));
  return rules.get(order);
}

function newRule(order) {
  const nodes = new Float64Array(order);
  const weights = new Float64Array(order);
  for (let i = 0; i < order; i++) {
    let x = Math.cos((Math.PI * (order - i - 0.25)) / (order + 0.5));
    for (let step = 0; step < 6; step++) {
      const [value, slope] = legendre(order, x);
      x -= value / slope;
    }
    const slope = legendre(order, x)[1];
    nodes[i] = x;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return { nodes, weights };
}

// The Legendre polynomial and its derivative.
function legendre(order, x) {
  let [before, now] = [1, x];
  for (let n = 2; n <= order; n++) {
    [before, now] = [now, ((2 * n - 1) * x * now - (n - 1) * before) / n];
  }
  return [now, (order * (before - x * now)) / (1 - x * x)];
}

// Points and weights of one rule on each of the panels between ascending edges.
export function panels(edges, order) {
  const { nodes, weights } = gaussLegendre(order);
  const points = new Float64Array((edges.length - 1) * order);
  const shares = new Float64Array(points.length);
  for (let panel = 0, at = 0; panel + 1 < edges.length; panel++) {
    const width = edges[panel + 1] - edges[panel];
    for (let node = 0; node < order; node++, at++) {
      points[at] = edges[panel] + (width * (nodes[node] + 1)) / 2;
      shares[at] = (width * weights[node]) / 2;
    }
  }
  return { points, shares };
}

// Equal panels of [0, end].
export const evenEdges = (end, count) => range(count + 1).map((i) => (end * i) / count);
