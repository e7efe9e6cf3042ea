// What can be copied: Python, the command line, a ledger's line, and two sentences for a review board.

import { oneRho } from "./risk.js";
import { fieldsOf, reader, relationOf } from "./tasks.js";
import { percent, SECRET, short } from "./words.js";

const quoted = (text) => JSON.stringify(text);

// The text of each, by its title.
export function copies(state, question, mechanism, risk) {
  const release = RELEASES[state.task](reader(state), Number(state.epsilon), mechanism, question, state.mechanism);
  return {
    "In Python": release.python,
    "On the command line": [planCommand(state), release.command].filter(Boolean).join("\n"),
    "A ledger for it": ledger(state, release, question, mechanism),
    "For the review board": board(state, release, question, mechanism, risk),
  };
}

// What names a mechanism, if the reader chose one: else the release chooses by what is public.
const named = (chosen, text) => (chosen ? text : "");

// The command that gives the same answers in a terminal.
export function planCommand(state) {
  const { task, data } = state;
  const read = reader(state);
  const names = fieldsOf(task, data === "paste").map(({ name }) => name);
  const options = names.map((name) => `--${OPTION[name] ?? name} ${shell(read.text(name))}`);
  const common = ["epsilon", "mechanism", ...(task === "releases" ? [] : ["probability"]), "releases", "total-delta"];
  const given = common.filter((name) => state[name]).map((name) => `--${name} ${shell(state[name])}`);
  return ["dpselect plan", data === "paste" ? `public.csv --task ${task}` : task, ...options, ...given].join(" ");
}

const OPTION = { relation: "neighbours", "key-people": "people" };

const shell = (value) => (/^[\w.:,+-]+$/.test(value) ? value : `'${value.replaceAll("'", "")}'`);

const BUDGET = 'budget=dp.Budget.open("project.budget")';

// The Python that makes a query and releases it from data.
function released(name, fields, data = '"data.parquet"') {
  const query = `query = dp.${name}(\n    ${fields.join("\n    ")}\n)`;
  return `import dpselect as dp\n\n${query}\nprint(query.release(${data}, ${BUDGET}))`;
}

const RELEASES = {
  "most-common": (read, epsilon, mechanism, question, chosen) => {
    const [k, relation] = [read.text("k"), read.text("neighbours")];
    const options = question.labels.slice(0, 3).join(",");
    return {
      name: "TopKeys",
      what: `${k === "1" ? "the most common" : `the ${k} most common`} of ${question.labels.length} public options`,
      python: released("TopKeys", [
        `column="column", k=${k},`,
        `candidates=${JSON.stringify(question.labels.slice(0, 3)).replace("]", ", ...]")},  # all ${question.labels.length}, public`,
        `epsilon=${epsilon}, neighbours=${quoted(relation)},${named(chosen, ` mechanism=${quoted(mechanism)},`)}`,
      ]),
      command: `dpselect top data.parquet --column column --k ${k} --candidates ${shell(options)},... --epsilon ${epsilon} --neighbours ${relation}${named(chosen, ` --mechanism ${mechanism}`)} --ledger project.budget`,
    };
  },
  percentile: (read, epsilon, mechanism, question) => {
    const [p, relation] = [read.text("p"), read.text("neighbours")];
    const [low, high, step] = ["lower", "upper", "step"].map((name) => read.text(name));
    const count = question.labels.length;
    return {
      name: "Percentiles",
      what: `${p.includes(",") ? "percentiles" : "percentile"} ${p} among ${count} public values from ${low} to ${high} ${read.text("unit")}`,
      python: released("Percentiles", [
        `column="column", p=[${p}], lower=${low}, upper=${high}, step=${step},`,
        `epsilon=${epsilon}, neighbours=${quoted(relation)},`,
      ]),
      command: `dpselect percentile data.parquet --column column --p ${p} --lower ${low} --upper ${high} --step ${step} --epsilon ${epsilon} --neighbours ${relation} --ledger project.budget`,
    };
  },
  scores: (read, epsilon, mechanism, question) => {
    const monotone = read.text("monotone") === "yes";
    const [bound, relation] = [read.text("bound"), read.text("relation")];
    const kinds = {
      "permute-and-flip": "PermuteAndFlip", exponential: "ExponentialMechanism", "noisy-max": "ReportNoisyMax",
      generalized: "GeneralizedExponential", "local-dampening": "LocalDampening", shifted: "ShiftedLocalDampening",
    };
    const sensitivity = {
      generalized: `dp.GlobalSensitivity(bounds, ${quoted(relation)})`,
      "local-dampening": `dp.ElementSensitivity(local, ${bound}, ${quoted(relation)}, horizon=len(local))`,
      shifted: `dp.ElementSensitivity(local, ${bound}, ${quoted(relation)}, horizon=len(local))`,
    }[mechanism] ?? `dp.GlobalSensitivity(${bound}, ${quoted(relation)})`;
    const facts = [monotone && "monotone=True", mechanism === "shifted" && 'direction="non-decreasing"'].filter(Boolean);
    return {
      name: "release",
      what: `one of ${question.labels.length} public options by a score that one individual changes by at most ${bound}`,
      python: `import dpselect as dp\n\nobjective = dp.Objective(\n    scores, ${sensitivity},\n    ${["candidates=options", ...facts].join(", ")},\n)\nrelease = dp.${kinds[mechanism]}(epsilon=${epsilon}).release(\n    objective, budget=dp.Budget.open("project.budget")\n)\nprint(release)`,
      command: ["generalized", "local-dampening", "shifted"].includes(mechanism) ? "" : `dpselect select options.csv --objective score:global=${bound}${monotone ? ":monotone" : ""} --label-column label --epsilon ${epsilon} --neighbours ${relation} --mechanism ${mechanism} --ledger project.budget`,
    };
  },
  keys: (read, epsilon, mechanism) => {
    const [delta, relation, most] = [read.text("delta"), read.text("neighbours"), read.text("max-per-user")];
    const [python, command] = most === "1" ? ["", ""] : [`user="person", max_per_user=${most}, `, ` --user person --max-per-user ${most}`];
    return {
      name: "Keys",
      what: "the values of a column that enough people have",
      python: released("Keys", [
        `column="column", ${python}method=${quoted(mechanism)},`,
        `epsilon=${epsilon}, delta=${delta}, neighbours=${quoted(relation)},`,
      ]),
      command: `dpselect keys data.parquet --column column${command} --method ${mechanism} --epsilon ${epsilon} --delta ${delta} --neighbours ${relation} --ledger project.budget`,
    };
  },
  subset: (read, epsilon, mechanism) => {
    const [n, d, beta] = ["n", "d", "beta"].map(read.text);
    return {
      name: "Subset",
      what: `a subset of ${d} of ${n} people with up to ${beta} swaps`,
      python: released("Subset", [
        `n=${n}, d=${d}, ${mechanism === "pure" ? "" : `beta=${beta}, `}scheme=${quoted(mechanism)}, epsilon=${epsilon},`,
      ], "members"),
      command: "",
    };
  },
  response: (read, epsilon) => ({
    name: "PooledOutcomes",
    what: "every person's yes or no, flipped by chance",
    python: [
      "import dpselect as dp",
      "import numpy as np",
      "from dpselect_pooling import PooledOutcomes, flip_for",
      "",
      "alone = np.eye(people, dtype=bool)  # each person is a pool",
      `flip = flip_for(alone, epsilon=${epsilon}, neighbours="substitute")`,
      'query = PooledOutcomes(matrix=alone, flip=flip, neighbours="substitute")',
      `print(query.release(statuses, ${BUDGET}))`,
    ].join("\n"),
    command: "",
  }),
  releases: (read, epsilon) => ({
    name: "several releases",
    what: "several results",
    python: `from dpselect_planner import risk_of\n\nrisk = risk_of(\n    epsilon=${epsilon}, releases=${read.text("releases")}, delta=${read.text("total-delta")}\n)\nprint(risk.epsilon, risk.posterior)`,
    command: "",
  }),
};

// The delta that one release has of its own.
export function ownDelta(state, question, mechanism) {
  if (state.task === "keys") return Number(reader(state).text("delta"));
  return state.task === "subset" ? question.outcome(mechanism, Number(state.epsilon)).error : 0;
}

function ledger(state, release, question, mechanism) {
  const [relation, epsilon] = [relationOf(state), Number(state.epsilon)];
  const delta = ownDelta(state, question, mechanism);
  const total = Number(state.releases) * epsilon;
  const sum = delta > 0 ? " --composition sum" : "";
  const create = `dpselect budget project.budget --create --epsilon ${short(total)} --delta ${short(Number(state.releases) * delta)}${sum} --neighbours ${relation}`;
  const rho = question?.rho ? question.rho(mechanism, epsilon) : oneRho(epsilon);
  const amounts = `epsilon ${epsilon}  delta ${short(delta)}  rho ${short(rho)}`;
  return `${create}\n# each release adds an entry: ${amounts}  ${relation}  ${release.name}: ${mechanism || "any"}`;
}

function board(state, release, question, mechanism, risk) {
  const relation = relationOf(state);
  const by = mechanism ? ` by the mechanism “${mechanism}”` : "";
  const own = ownDelta(state, question, mechanism);
  const delta = own > 0 ? ` and δ = ${short(own)}` : "";
  const times = Number(state.releases);
  const several = times > 1 ? `${times} such releases` : "the release";
  return (
    `We release ${release.what}${by}, with ε = ${state.epsilon}${delta} of differential privacy for neighbouring data sets under “${relation}”. ` +
    `Somebody who believes with 50 % that ${SECRET[relation]} can believe it with at most ${percent(risk.posterior)} after ${several}${times > 1 ? ` (ε = ${short(risk.epsilon)} together)` : ""}, whatever else they know${relation === "add-remove" ? ` (what a person says who is known to be there, with at most ${percent(risk.of_value)})` : ""}` +
    `${risk.zcdp < risk.sum ? `, but for an event of probability ${state["total-delta"]}` : ""}.`
  );
}
