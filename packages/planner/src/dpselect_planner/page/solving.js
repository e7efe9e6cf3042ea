// Backwards from a probability of success: the epsilon, or the number of people, it takes.

const [LEAST_EPSILON, MOST_EPSILON] = [0.001, 100];
const STEPS = 40; // halvings of the range of ln(epsilon)
const MOST_PEOPLE = 2 ** 40;

const successOf = (question, mechanism, epsilon) =>
  question.success?.(mechanism, epsilon) ?? question.outcome(mechanism, epsilon).success;

// The least epsilon from which on a success has the probability; null where 100 is too little.
// A generator that yields after every law, as do all slow computations of the page.
export function* epsilonFor(question, mechanism, probability) {
  const enough = (epsilon) => successOf(question, mechanism, epsilon) >= probability;
  if (!enough(MOST_EPSILON)) return null;
  yield;
  if (enough(LEAST_EPSILON)) return LEAST_EPSILON;
  let [low, high] = [Math.log(LEAST_EPSILON), Math.log(MOST_EPSILON)];
  for (let step = 0; step < STEPS; step++) {
    yield;
    const middle = (low + high) / 2;
    [low, high] = enough(Math.exp(middle)) ? [low, middle] : [middle, high];
  }
  return Math.exp(high);
}

// From how many people on, with the same shares; null where the data are not of people.
export function* peopleFor(question, mechanism, epsilon, probability) {
  if (!question.of) return null;
  const enough = (people) => successOf(question.of(people), mechanism, epsilon) >= probability;
  let high = 1;
  while (!enough(high)) {
    yield;
    high *= 2;
    if (high > MOST_PEOPLE) return null;
  }
  let low = Math.floor(high / 2);
  while (high - low > 1) {
    yield;
    const middle = Math.floor((low + high) / 2);
    [low, high] = enough(middle) ? [low, middle] : [middle, high];
  }
  return high;
}

// Run a generator to its end and return what it returns.
export function finish(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
