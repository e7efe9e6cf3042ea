// The page: a form, and everything that follows from it.

import { bars, lines } from "./chart.js";
import { copies, ownDelta } from "./copying.js";
import { range, largest } from "./laws/numbers.js";
import { riskOf } from "./risk.js";
import { check, number } from "./shapes.js";
import { epsilonFor, peopleFor } from "./solving.js";
import { asFragment, readFragment } from "./state.js";
import { fieldsOf, reader, relationOf, TASKS } from "./tasks.js";
import { amount, counted, grouped, percent, SECRET, short, upwards } from "./words.js";

export const EPSILONS = range(49).map((i) => 0.01 * 2000 ** (i / 48));
const SLICE = 25; // milliseconds of computing between two looks at the user
const SOLVED = "solved";

let state = readFragment(location.hash);
let running = 0;

const find = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function buildTasks() {
  find("tasks").replaceChildren(
    ...Object.entries(TASKS).map(([name, { title, example }]) => {
      const input = element("input", { type: "radio", name: "task", value: name, id: `task-${name}` });
      input.checked = name === state.task;
      input.addEventListener("change", () => choose(name));
      return element("label", { class: "task", for: `task-${name}` }, input, element("b", {}, title), element("span", {}, example));
    }),
  );
}

function choose(task) {
  const { epsilon, probability } = state;
  state = { ...readFragment(""), epsilon, probability, ...onlyCommon(TASKS[task].first), task };
  find("task-" + task).checked = true;
  buildForm();
  update();
}

const onlyCommon = (first = {}) =>
  Object.fromEntries(Object.entries(first).filter(([name]) => find(name)));

function buildForm() {
  const { shape, paste, sample } = TASKS[state.task];
  const pasted = Boolean(shape) && state.data === "paste";
  find("data").hidden = !shape;
  for (const kind of ["shape", "paste"]) find(`data-${kind}`).checked = (kind === "paste") === pasted;
  find("paste-box").hidden = !pasted;
  find("paste-help").textContent = paste ?? "";
  if (pasted && !state.pasted) state.pasted = sample;
  find("pasted").value = state.pasted;
  find("fields").replaceChildren(...fieldsOf(state.task, pasted).map(field));
  for (const name of ["epsilon", "probability", "releases", "total-delta"]) find(name).value = state[name];
  find("slider").value = Math.log(Number(state.epsilon));
}

function field({ name, label, value, choices }) {
  const shown = state[name] ?? value;
  const input = choices
    ? element("select", { id: `field-${name}` }, ...Object.entries(choices).map(([key, words]) => element("option", { value: key }, words)))
    : element("input", { id: `field-${name}`, autocomplete: "off", inputmode: Number.isNaN(Number(value)) ? "text" : "decimal" });
  input.value = shown;
  input.addEventListener("input", () => set(name, input.value));
  return element("div", { class: "field" }, element("label", { for: `field-${name}` }, label), input);
}

function set(name, value) {
  state[name] = value.trim();
  update();
}

function listen() {
  for (const name of ["epsilon", "probability", "releases", "total-delta"]) {
    find(name).addEventListener("input", (event) => {
      set(name, event.target.value);
      if (name === "epsilon") find("slider").value = Math.log(Number(state.epsilon));
    });
  }
  find("slider").addEventListener("input", (event) => {
    state.epsilon = String(Number(Math.exp(Number(event.target.value)).toPrecision(3)));
    find("epsilon").value = state.epsilon;
    update();
  });
  for (const kind of ["shape", "paste"]) {
    find(`data-${kind}`).addEventListener("change", () => {
      state.data = kind;
      buildForm();
      update();
    });
  }
  find("pasted").addEventListener("input", (event) => {
    state.pasted = event.target.value;
    update();
  });
  find("again").addEventListener("click", () => showDrawn(current()));
  addEventListener("resize", () => {
    const now = current();
    if (now.question) showLaw(now);
  });
  addEventListener("hashchange", () => {
    if (location.hash === asFragment(state)) return;
    state = readFragment(location.hash);
    start();
  });
}

// The checked inputs, the question, and the mechanism that is looked at.
function current() {
  const question = TASKS[state.task].question(reader(state));
  const epsilon = number(state.epsilon, "Epsilon");
  check(epsilon >= 0.001 && epsilon <= 100, "Epsilon must be from 0.001 to 100");
  const wanted = number(state.probability, "The probability");
  check(wanted > 0 && wanted < 1, "The probability must be between 0 and 1");
  const releases = number(state.releases, "Releases");
  check(Number.isInteger(releases) && releases >= 1, "Releases must be an integer from 1");
  const delta = number(state["total-delta"], "Their delta");
  check(delta >= 0 && delta < 1, "Their delta must be 0 or more, below 1");
  const names = question?.mechanisms ?? [];
  const mechanism = names.includes(state.mechanism) ? state.mechanism : names[0] ?? "";
  return { question, epsilon, wanted, releases, delta, names, mechanism };
}

function update() {
  history.replaceState(null, "", asFragment(state));
  running += 1;
  let now;
  try {
    now = current();
  } catch (error) {
    find("problem").textContent = error.message;
    find("problem").hidden = false;
    find("results").classList.add("stale");
    return;
  }
  find("problem").hidden = true;
  find("results").classList.remove("stale");
  for (const part of ["law", "drawn", "mechanisms", "curves", "probability-field"]) find(part).hidden = !now.question;
  find("protected").textContent = relationOf(state);
  const risk = riskOf(now.question, now.mechanism, now);
  showRisk(now, risk);
  showCopies(now, risk);
  if (!now.question) {
    find("answer").replaceChildren(sum(now, risk));
    return;
  }
  showLaw(now);
  showDrawn(now);
  compute(now);
}

// Compute everything that is slow in slices, so that the page stays awake.
function compute(now) {
  const mine = running;
  const results = now.names.map((name, place) => ({
    name, place, points: [], ...now.question.outcome(name, now.epsilon),
  }));
  const steps = plan(now, results);
  find("results").setAttribute("aria-busy", "true");
  const slice = () => {
    if (mine !== running) return;
    const until = performance.now() + SLICE;
    let done = false;
    while (!done && performance.now() < until) {
      const step = steps.next();
      done = step.done;
      if (done || step.value === SOLVED) showAll(now, results);
    }
    if (done) find("results").removeAttribute("aria-busy");
    else setTimeout(slice);
  };
  showAll(now, results);
  slice();
}

// The chosen mechanism comes first: its answers are the headline.
function* plan({ question, mechanism, epsilon, wanted }, results) {
  const ordered = [...results].sort((a, b) => (b.name === mechanism) - (a.name === mechanism));
  for (const result of ordered) {
    result.enough = yield* epsilonFor(question, result.name, wanted);
    result.people = yield* peopleFor(question, result.name, epsilon, wanted);
    yield SOLVED;
  }
  for (const result of ordered) {
    for (const e of EPSILONS) {
      result.points.push([e, question.outcome(result.name, e)]);
      yield;
    }
  }
}

function showAll(now, results) {
  showAnswer(now, results);
  showMechanisms(now, results);
  if (results.every((one) => one.points.length === EPSILONS.length)) showCurves(now, results);
}

const SUCCESS = {
  "most-common": ({ within, k }) => (k > 1 ? `that the ${k} right ones are released` : `that the right one is released${within > 0 ? `, or one of ${within} people fewer` : ""}`),
  percentile: ({ within, unit }) => (within > 0 ? `that the value is within ${counted(within, unit)}` : "that the value is right"),
  scores: ({ within, unit }) => `that the best is released${within > 0 ? `, or one of ${counted(within, unit)} less` : ""}`,
  keys: () => "that the key is shown",
  subset: ({ beta, delta }) => `of at most ${counted(beta, "swaps")}, at a delta of at most ${delta}`,
  response: () => "of the true answer",
};

function successWords() {
  const { text } = reader(state);
  const named = ["within", "unit", "k", "beta", "delta"].map((name) => [name, text(name)]);
  return SUCCESS[state.task](Object.fromEntries(named));
}

function showAnswer({ question, epsilon, wanted, mechanism }, results) {
  const { enough, people, success, error } = results.find((one) => one.name === mechanism);
  const at = `at epsilon ${short(epsilon)}`;
  const goal = `${percent(wanted)} ${successWords()}`;
  const parts = [
    ["epsilon-needed", enough === undefined ? "…" : upwards(enough), `is the epsilon for ${goal}`],
    ["success", percent(success), `${successWords()}, ${at}`],
  ];
  if (question.of) {
    const from = state.task === "keys" ? "people must have the key for" : "people are enough, with the same shares, for";
    parts.splice(1, 0, ["people-needed", people === undefined ? "…" : grouped(people), `${from} ${goal}, ${at}`]);
  }
  if (question.half) parts.push(["half", grouped(question.half(mechanism, epsilon)), `people from which a key is shown more often than not, ${at}`]);
  if (question.unit === "delta") parts.push(["error", short(error), `is delta ${at}`]);
  else if (question.unit) parts.push(["error", amount(error), `${question.unit} of expected error ${at}`]);
  const best = bestOf(question, results);
  find("answer").replaceChildren(
    ...parts.map((part) => answerLine(...part)),
    element("p", { class: "by" }, `Mechanism: ${mechanism}. The best of all here: `, element("b", { id: "best" }, best), `. Neighbours: ${relationOf(state)}.`),
  );
}

// The mechanism of the least expected error, or where there is none of the largest chance.
function bestOf(question, results) {
  const byError = question.unit && question.unit !== "delta";
  const worth = (one) => (byError ? -one.error : one.success);
  return results.reduce((best, one) => (worth(one) > worth(best) ? one : best)).name;
}

function answerLine(id, value, words) {
  return element("p", { id }, element("strong", {}, value), ` ${words}`);
}

function sum({ releases, epsilon }, risk) {
  const parts = [
    answerLine("sum", short(risk.sum), `epsilon of ${releases} releases at ${short(epsilon)} each, added up`),
    answerLine("zcdp", short(risk.zcdp), `by zCDP, with a total delta of ${state["total-delta"]}`),
    answerLine("together", short(risk.epsilon), "is the smaller, and what they cost together"),
    element("p", { class: "by" }, `Neighbours: ${relationOf(state)}.`),
  ];
  return element("div", {}, ...parts);
}

function showLaw({ question, mechanism, epsilon }) {
  const entries = entriesOf(question, mechanism, epsilon);
  const { picture, left } = bars(entries, find("bars").clientWidth);
  find("bars").replaceChildren(picture);
  const several = state.task === "percentile" && reader(state).text("p").includes(",");
  const usual = `${several ? "Mean number of times" : "Probability"} to be released, at this epsilon.`;
  find("law-words").textContent = `${LAW[state.task] ?? usual}${left > 0 ? ` ${left} more are less likely.` : ""}`;
  const rows = entries.slice(0, 1000).map((one) => row([one.label, short(one.chance), one.best ? "best" : ""]));
  find("law-table").replaceChildren(...rows);
}

const LAW = {
  keys: "Probability that a key is shown, by the number of people who have it.",
  subset: "Probability of each number of errors, in swaps.",
  response: "Probability of each answer.",
};

// What the bars show: candidates, numbers of people, or numbers of errors.
function entriesOf(question, mechanism, epsilon) {
  if (question.shown) {
    const last = Math.max(3, 2 * question.half(mechanism, epsilon));
    const step = Math.ceil(last / 60);
    return range(Math.floor(last / step) + 1).map((i) => {
      const chance = question.shown(mechanism, epsilon, i * step);
      return { label: String(i * step), chance, best: chance >= 0.5 };
    });
  }
  const law = [...question.law(mechanism, epsilon)];
  return law.map((chance, i) => ({
    label: question.labels?.[i] ?? String(i),
    chance,
    best: question.best?.[i] ?? i <= Number(reader(state).text("beta")),
  }));
}

function showDrawn({ question, mechanism, epsilon }) {
  find("drawn").hidden = !question.drawn;
  if (!question.drawn) return;
  const chips = range(20).map(() => question.drawn(mechanism, epsilon));
  find("outcomes").replaceChildren(
    ...chips.map(({ words, right }) => element("li", { class: right ? "best" : "" }, words)),
  );
}

function showMechanisms({ question, names, mechanism }, results) {
  const unit = question.unit === "delta" ? "delta" : question.unit ? `expected error (${question.unit})` : "";
  const heads = ["mechanism", "P(success)", unit, "epsilon needed", question.of ? "people needed" : ""].filter(Boolean);
  find("mechanism-head").replaceChildren(...heads.map((words) => element("th", { scope: "col" }, words)));
  const kept = document.activeElement?.id;
  const rows = results.map((one) => {
    const input = element("input", { type: "radio", name: "mechanism", value: one.name, id: `by-${names.indexOf(one.name)}` });
    input.checked = one.name === mechanism;
    input.addEventListener("change", () => set("mechanism", one.name));
    const label = element("label", { for: input.id }, element("i", { class: `key key-${one.place}` }), one.name);
    const cells = [
      percent(one.success),
      ...(unit ? [unit === "delta" ? short(one.error) : amount(one.error)] : []),
      one.enough === undefined ? "…" : upwards(one.enough),
      ...(question.of ? [one.people === undefined ? "…" : grouped(one.people)] : []),
    ];
    return element("tr", {}, element("th", { scope: "row" }, input, label), ...cells.map((words) => element("td", {}, words)));
  });
  find("mechanism-rows").replaceChildren(...rows);
  if (kept?.startsWith("by-")) find(kept)?.focus();
}

function showCurves({ question, epsilon, wanted }, results) {
  const series = (of) => results.map(({ name, place, points }) => ({ name, place, points: points.map(([e, one]) => [e, of(one)]) }));
  const chances = lines(series((one) => one.success), { epsilon, top: 1, wanted, label: "Probability of success" });
  find("success-curve").replaceChildren(chances);
  const errors = series((one) => one.error);
  const top = largest(errors.flatMap((one) => one.points.map(([, value]) => value)).filter(Number.isFinite));
  find("error-box").hidden = !(top > 0);
  if (!(top > 0)) return;
  find("error-words").textContent = question.unit === "delta" ? "Delta" : `Expected error (${question.unit})`;
  find("error-curve").replaceChildren(lines(errors, { epsilon, top, label: "Expected error" }));
}

function showRisk({ question, mechanism, releases, epsilon }, risk) {
  const failure = ownDelta(state, question, mechanism);
  const relation = relationOf(state);
  const together = releases > 1 ? `${releases} releases at epsilon ${short(epsilon)} each cost epsilon ${short(risk.epsilon)} together: added up ${short(risk.sum)}, by zCDP ${short(risk.zcdp)} with a total delta of ${state["total-delta"]}.` : "";
  find("risk-words").replaceChildren(
    element("p", {}, `Whoever believes with 50 % that ${SECRET[relation]} can believe it with at most `, element("strong", { id: "posterior" }, percent(risk.posterior)), " afterwards, whatever else they know."),
    element("p", {}, relation === "add-remove" ? `What a person says who is known to be there: at most ${percent(risk.of_value)}.` : ""),
    element("p", {}, "The odds change by a factor of at most ", element("strong", { id: "odds" }, short(risk.odds)), ` (e to the power of epsilon, ${relation} neighbours).`),
    element("p", {}, together),
    element("p", {}, failure > 0 ? `All of this but for an event of probability ${short(releases * failure)}, the delta of what is released.` : ""),
  );
  find("believed").style.width = `${100 * risk.posterior}%`;
}

function showCopies({ question, mechanism }, risk) {
  const blocks = Object.entries(copies(state, question, mechanism, risk)).map(([title, words], i) => {
    const text = element("pre", { id: `copy-${i}`, tabindex: "0" }, words);
    const button = element("button", { type: "button", "aria-describedby": `copy-${i}` }, "Copy");
    button.addEventListener("click", () => copy(words, text, button));
    return element("section", { class: "copy" }, element("h3", {}, title, button), text);
  });
  find("copies").replaceChildren(...blocks);
}

async function copy(words, text, button) {
  getSelection().selectAllChildren(text);
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

const row = (cells) => element("tr", {}, ...cells.map((words) => element("td", {}, words)));

function start() {
  if (!TASKS[state.task]) state.task = "most-common";
  buildTasks();
  buildForm();
  update();
}

listen();
start();
