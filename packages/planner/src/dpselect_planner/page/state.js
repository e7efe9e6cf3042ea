// The state of the page, which is in the fragment of its address.

export const FIRST = {
  task: "most-common",
  data: "shape",
  pasted: "",
  epsilon: "0.2",
  probability: "0.95",
  releases: "1",
  "total-delta": "1e-6",
  mechanism: "",
};

export function readFragment(fragment) {
  return { ...FIRST, ...Object.fromEntries(new URLSearchParams(fragment.replace(/^#/, ""))) };
}

// What differs from the first state, in the order of its names.
export function asFragment(state) {
  const changed = Object.entries(state).filter(([name, value]) => name === "task" || value !== FIRST[name]);
  return `#${new URLSearchParams(changed)}`;
}
