// The table of tasks: what each asks for, and the question that it makes of that.

import { bestScore, keys, mostCommon, percentile, response, subset } from "./questions.js";
import { check, counts, equallySpaced, grid, histogram, ledBy, number, scores, spread } from "./shapes.js";
import { range } from "./laws/numbers.js";

const TABLES = { "add-remove": "add-remove: one person more or less", substitute: "substitute: one person's record replaced" };
const RELATIONS = { ...TABLES, edge: "edge: one connection more or less", swap: "swap: one member exchanged" };

// Every field has the name of the option of `dpselect plan`, a label, and its value at first.
const FIELDS = {
  options: { label: "Options", value: "20" },
  gap: { label: "Lead of the best over the next (people)", value: "30" },
  spacing: { label: "Gap between each score and the next", value: "1" },
  people: { label: "People", value: "1000" },
  k: { label: "How many are released (k)", value: "1" },
  within: { label: "Counts as right within", value: "0" },
  bound: { label: "What one individual changes of a score", value: "1" },
  monotone: { label: "All scores move in one direction", value: "no", choices: { no: "no", yes: "yes" } },
  p: { label: "Percentile, or several as 25,50,75", value: "90" },
  lower: { label: "Smallest value to release", value: "0" },
  upper: { label: "Largest value to release", value: "60" },
  step: { label: "Step between two values", value: "1" },
  shape: {
    label: "Spread of the values",
    value: "tail",
    choices: { tail: "falling, mean a sixth of the range", bell: "bell, in the middle", even: "even" },
  },
  unit: { label: "Unit", value: "days" },
  "key-people": { label: "People who have the key", value: "10" },
  delta: { label: "Delta", value: "1e-6" },
  "max-per-user": { label: "Keys of one person at most", value: "1" },
  n: { label: "People (n)", value: "100" },
  d: { label: "Members (d)", value: "10" },
  beta: { label: "Errors allowed, in swaps (beta)", value: "2" },
  neighbours: { label: "Protected (neighbours)", value: "add-remove", choices: TABLES },
  relation: { label: "Protected (neighbours)", value: "add-remove", choices: RELATIONS },
};

export const TASKS = {
  "most-common": {
    title: "The most common option",
    example: "of 20 diagnoses; or the k most common",
    shape: ["options", "gap", "people"],
    paste: "One line for each option: label, people",
    sample: "influenza, 310\nasthma, 280\nmigraine, 122\ngout, 40",
    fields: ["k", "within", "neighbours"],
    question: (read) => {
      const k = read.integer("k", 1);
      const data = read.pasted ? counts(read.pasted) : shapeOfCounts(read, k);
      check(k <= data.counts.length, "k must be at most the number of options");
      return mostCommon({ ...data, k, within: read.number("within", 0), neighbours: read.text("neighbours") });
    },
  },
  percentile: {
    title: "A percentile",
    example: "the 90th of days in hospital; or several",
    shape: ["people", "shape"],
    paste: "One value on each line, or: value, people",
    sample: range(30).map((day) => `${day}, ${Math.round(100 * Math.exp(-day / 8))}`).join("\n"),
    fields: ["p", "lower", "upper", "step", "within", "unit", "neighbours"],
    question: (read) => {
      const candidates = grid(...["lower", "upper", "step"].map((name) => read.number(name, -Infinity)));
      const people = read.pasted ? 1 : read.number("people", 1e-300);
      const data = read.pasted
        ? histogram(read.pasted)
        : { values: candidates, counts: spread(candidates, read.text("shape"), people) };
      const p = read.text("p").split(",").map(Number);
      check(p.every((one, i) => one > (p[i - 1] ?? 0) && one <= 100), "percentiles must increase, above 0 up to 100");
      const rest = { within: read.number("within", 0), neighbours: read.text("neighbours"), unit: read.text("unit") };
      return percentile({ ...data, candidates, p, ...rest });
    },
    first: { within: "1" },
  },
  scores: {
    title: "The best of any scores",
    example: "100 options, each with a score",
    shape: ["options", "spacing"],
    paste: "One line for each option: label, score. A first line label,score,bound,d0,d1,… adds bounds of each and local sensitivities",
    sample: "label,score,d0,d1\nnode 1,12,2,3\nnode 2,9,1,2\nnode 3,8,4,4",
    fields: ["bound", "monotone", "within", "unit", "relation"],
    question: (read) => {
      const options = read.pasted ? 1 : read.integer("options", 1);
      const spaced = read.pasted ? null : equallySpaced(options, read.number("spacing", 0));
      const data = read.pasted ? scores(read.pasted) : { labels: numbered(options), scores: spaced };
      const bound = read.number("bound", 1e-300);
      const flat = [data.bounds ?? [bound], ...(data.local ?? [])].flat();
      check(flat.every((one) => one > 0), "bounds and sensitivities must be above 0");
      const rest = { monotone: read.text("monotone") === "yes", within: read.number("within", 0), unit: read.text("unit") };
      return bestScore({ ...data, bound, ...rest });
    },
    first: { options: "100", unit: "points" },
  },
  keys: {
    title: "Which values there are",
    example: "rare keys, from how many people on they are shown",
    fields: ["key-people", "delta", "max-per-user", "neighbours"],
    question: (read) => keys({
      people: read.number("key-people", 0),
      delta: read.probability("delta"),
      perUser: read.integer("max-per-user", 1),
      neighbours: read.text("neighbours"),
    }),
  },
  subset: {
    title: "A subset of people",
    example: "those who tested positive, with a few errors",
    fields: ["n", "d", "beta", "delta"],
    question: (read) => {
      const [n, d, beta] = [read.integer("n", 2), read.integer("d", 1), read.integer("beta", 0)];
      check(n <= 5000, "n must be at most 5000");
      check(d < n, "d must be below n");
      check(beta <= Math.min(d, n - d), "beta must be at most min(d, n - d)");
      return subset({ n, d, beta, delta: read.probability("delta") });
    },
    relation: "swap",
    first: { delta: "0.1" },
  },
  response: {
    title: "Yes or no, without a curator",
    example: "randomised response of each person",
    fields: [],
    question: () => response(),
    relation: "substitute",
  },
  releases: {
    title: "Several releases together",
    example: "what five releases add up to",
    fields: ["relation"],
    question: () => null,
    first: { releases: "5", "total-delta": "1e-6", epsilon: "0.3" },
  },
};

const numbered = (count) => range(count).map((i) => `option ${i + 1}`);

function shapeOfCounts(read, k) {
  const options = read.integer("options", 2);
  check(k < options, "k must be below the number of options");
  const shape = { options, people: read.number("people", 1e-300), gap: read.number("gap", 0) };
  return { labels: numbered(options), counts: ledBy(k, shape) };
}

// The fields of a task, with their first values.
export function fieldsOf(task, pasted) {
  const { fields, shape = [], first = {} } = TASKS[task];
  return [...(pasted ? [] : shape), ...fields].map((name) => ({
    name,
    ...FIELDS[name],
    value: first[name] ?? FIELDS[name].value,
  }));
}

// Checked values of a state, by the names of fields.
export function reader(state) {
  const labelled = (name) => (FIELDS[name]?.label ?? name).replace(/ \(.*\)/, "");
  const text = (name) => state[name] ?? TASKS[state.task].first?.[name] ?? FIELDS[name].value;
  const value = (name) => number(text(name), labelled(name));
  return {
    text,
    pasted: state.data === "paste" ? state.pasted || " " : "",
    number: (name, least) => {
      check(value(name) >= least, `${labelled(name)} must be ${least > 0 ? "above 0" : "0 or more"}`);
      return value(name);
    },
    integer: (name, least) => {
      check(Number.isInteger(value(name)) && value(name) >= least && value(name) <= 1e9, `${labelled(name)} must be an integer from ${least}`);
      return value(name);
    },
    probability: (name) => {
      check(value(name) > 0 && value(name) < 1, `${labelled(name)} must be between 0 and 1`);
      return value(name);
    },
  };
}

// The neighbour relation that a state's epsilon is stated for.
export function relationOf(state) {
  const { fields, relation } = TASKS[state.task];
  if (relation) return relation;
  return reader(state).text(fields.includes("relation") ? "relation" : "neighbours");
}
