// Bars of a law and lines over epsilon, as SVG.

import { largest } from "./laws/numbers.js";
import { short } from "./words.js";

const NAMESPACE = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const NARROW = 440; // of lines
const MARGIN = { left: 52, right: 14, top: 12, bottom: 40 };
const SHOWN = 80; // bars; of more candidates the likeliest are shown

// Bars of [{label, chance, best}], as wide as their place; returns the picture and how many
// bars it leaves out.
export function bars(entries, width) {
  const height = 240;
  const kept = entries.length > SHOWN ? likeliest(entries) : entries;
  const top = Math.max(1e-9, Math.min(1, largest(kept.map((one) => one.chance)) * 1.1));
  const picture = frame(width, height, `Probability of each of ${kept.length}`);
  const y = (chance) => height - MARGIN.bottom - ((height - MARGIN.top - MARGIN.bottom) * chance) / top;
  const step = (width - MARGIN.left - MARGIN.right) / kept.length;
  yAxis(picture, width, [0, top / 2, top], y);
  kept.forEach((one, i) => {
    const x = MARGIN.left + i * step;
    const bar = svg("rect", {
      x: x + step * 0.12, y: y(one.chance), width: step * 0.76,
      height: Math.max(0, y(0) - y(one.chance)), class: one.best ? "bar best" : "bar",
    });
    bar.append(svg("title", {}, `${one.label}: ${short(one.chance)}`));
    picture.append(bar);
    const every = Math.ceil((kept.length * 46) / width);
    if (i % every === 0) picture.append(text(clip(one.label.replace(/^option /, ""), every * step), x + step / 2, height - 20, "middle"));
  });
  return { picture, left: entries.length - kept.length };
}

function likeliest(entries) {
  const least = [...entries].sort((a, b) => b.chance - a.chance)[SHOWN - 1].chance;
  return entries.filter((one) => one.chance >= least).slice(0, SHOWN);
}

const clip = (label, width) => {
  const most = Math.max(3, Math.floor(width / 7));
  return label.length > most ? `${label.slice(0, most - 1)}…` : label;
};

// Lines of [{name, points: [[epsilon, value]]}] over ln(epsilon).
export function lines(series, { epsilon, top, wanted, label }) {
  const height = 230;
  const picture = frame(NARROW, height, `${label} by epsilon, one line for each mechanism`);
  const right = NARROW - MARGIN.right;
  const [low, high] = [Math.log(0.01), Math.log(20)];
  const x = (e) => MARGIN.left + ((right - MARGIN.left) * (Math.log(e) - low)) / (high - low);
  const y = (value) => height - MARGIN.bottom - ((height - MARGIN.top - MARGIN.bottom) * value) / top;
  yAxis(picture, NARROW, [0, top / 2, top], y);
  for (const tick of [0.01, 0.03, 0.1, 0.3, 1, 3, 10]) {
    picture.append(text(String(tick), x(tick), height - 22, "middle"));
  }
  picture.append(text("epsilon", (MARGIN.left + right) / 2, height - 5, "middle"));
  if (wanted) picture.append(svg("line", { x1: MARGIN.left, x2: right, y1: y(wanted), y2: y(wanted), class: "wanted" }));
  const here = Math.min(Math.max(epsilon, 0.01), 20);
  picture.append(svg("line", { x1: x(here), x2: x(here), y1: MARGIN.top, y2: height - MARGIN.bottom, class: "here" }));
  series.forEach(({ points, place }) => {
    const kept = points.filter(([, value]) => Number.isFinite(value));
    const path = kept.map(([e, value], i) => `${i ? "L" : "M"}${x(e).toFixed(1)} ${y(Math.min(value, top)).toFixed(1)}`);
    picture.append(svg("path", { d: path.join(""), class: `line line-${place}` }));
  });
  return picture;
}

function frame(width, height, label) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

function yAxis(picture, width, ticks, y) {
  for (const tick of ticks) {
    picture.append(svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick), class: "grid" }));
    picture.append(text(short(tick), MARGIN.left - 8, y(tick) + 4, "end"));
  }
}

function text(words, x, y, anchor) {
  return svg("text", { x, y, "text-anchor": anchor, class: "tick" }, words);
}
