// Data of a public shape, and the reading of what is pasted.

import { range, total } from "./laws/numbers.js";

// Counts of options of which k lead and all others tie `gap` people behind.
export function ledBy(k, { options, people, gap }) {
  const rest = Math.max(0, (people - k * gap) / options);
  return range(options).map((r) => (r < k ? rest + gap : rest));
}

export const equallySpaced = (options, gap) => range(options).map((r) => gap * (options - 1 - r));

// How many people have each of several equally spaced values.
export function spread(candidates, shape, people) {
  const [low, high] = [candidates[0], candidates.at(-1)];
  const sixth = (high - low) / 6 || 1;
  const weight = {
    even: () => 1,
    bell: (one) => Math.exp(-(((one - (low + high) / 2) / sixth) ** 2) / 2),
    tail: (one) => Math.exp(-(one - low) / sixth),
  }[shape];
  const weights = candidates.map(weight);
  const whole = total(weights);
  return weights.map((one) => (people * one) / whole);
}

// The values from the smallest to the largest, at a step; through decimals, as 0.3 is 3 times 0.1.
export function grid(lower, upper, step) {
  check(step > 0 && lower < upper, "the largest value must be above the smallest, and the step above 0");
  const count = Math.floor((upper - lower) / step + 1e-9) + 1;
  check(count >= 2 && count <= MOST, `the step must give 2 to ${MOST} values`);
  return range(count).map((i) => Number((lower + i * step).toPrecision(12)));
}

export const MOST = 5000;

export function check(right, message) {
  if (!right) throw new Error(message);
}

// Lines of a label and numbers, separated by commas, semicolons or tabs; a first line without
// numbers names the columns.
export function table(text) {
  const rows = text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "");
  const cells = rows.map((row) => row.split(/\s*[,;\t]\s*/));
  check(cells.length > 0, "paste at least one line");
  const headed = cells[0].length > 1 && cells[0].slice(1).every((cell) => Number.isNaN(Number(cell)));
  const body = headed ? cells.slice(1) : cells;
  check(body.length > 0, "paste at least one line of numbers");
  check(body.length <= MOST, `paste at most ${MOST} lines`);
  return { names: headed ? cells[0] : null, body };
}

export function number(text, what) {
  check(text !== undefined && text !== "" && Number.isFinite(Number(text)), `${what} must be a number, not “${text ?? ""}”`);
  return Number(text);
}

// Labels with the number of people who have each.
export function counts(text) {
  const { body } = table(text);
  const rows = body.map((cells, i) => ({
    label: cells.length > 1 ? cells[0] : `${i + 1}`,
    count: number(cells.at(-1), "a count"),
  }));
  check(rows.every((row) => row.count >= 0) && rows.some((row) => row.count > 0), "counts must be 0 or more, not all 0");
  return { labels: rows.map((row) => row.label), counts: rows.map((row) => row.count) };
}

// Different numbers, ascending, with how many people have each: one number a line, or a
// number and a count.
export function histogram(text) {
  const held = new Map();
  for (const cells of table(text).body) {
    const value = number(cells[0], "a value");
    const people = cells.length > 1 ? number(cells[1], "a count") : 1;
    check(people >= 0, "counts must be 0 or more");
    held.set(value, (held.get(value) ?? 0) + people);
  }
  const values = [...held.keys()].sort((a, b) => a - b);
  return { values, counts: values.map((value) => held.get(value)) };
}

// Labels and scores; named columns `bound` (of each candidate) and d0, d1, ... (local
// sensitivities at distance 0, 1, ...) may follow.
export function scores(text) {
  const { names, body } = table(text);
  const columns = names ?? (body[0].length > 1 ? ["label", "score"] : ["score"]);
  const column = (name) => {
    const place = columns.indexOf(name);
    return place < 0 ? null : body.map((cells) => number(cells[place], `each ${name}`));
  };
  const place = columns.indexOf("score");
  check(place >= 0, "name the columns label,score or label,score,bound,d0,d1,…");
  const local = [];
  while (column(`d${local.length}`)) local.push(column(`d${local.length}`));
  return {
    labels: body.map((cells, i) => (place > 0 ? cells[0] : `${i + 1}`)),
    scores: column("score"),
    bounds: column("bound"),
    local,
  };
}
