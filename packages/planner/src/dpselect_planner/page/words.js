// Numbers and risks in words.

// Three significant digits, without a power of ten where that can be.
export function short(number) {
  if (!Number.isFinite(number)) return number === Infinity ? "∞" : "–";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size < 1e-4 || size >= 1e6) return number.toExponential(2).replace("e+", "e");
  return String(Number(number.toPrecision(3)));
}

// An error, where less than a thousandth is as good as none.
export const amount = (error) => (error > 0 && error < 0.001 ? "< 0.001" : short(error));

// As a percentage; never 100 % or 0 % of what is not certain.
export function percent(chance) {
  if (!Number.isFinite(chance)) return "–";
  if (chance > 0.9999 && chance < 1) return "> 99.99 %";
  if (chance < 0.0001 && chance > 0) return "< 0.01 %";
  return `${Number((100 * chance).toPrecision(chance > 0.99 ? 4 : 3))} %`;
}

// Rounded up to three digits: an epsilon that is enough.
export function upwards(number) {
  if (number === null) return "more than 100";
  const unit = 10 ** (Math.floor(Math.log10(number)) - 2);
  return String(Number((Math.ceil(number / unit - 1e-9) * unit).toPrecision(3)));
}

export const grouped = (integer) => (integer === null ? "–" : integer.toLocaleString("en"));

// An amount with its unit, as 1 day or 2 days.
export const counted = (number, unit) => `${number} ${Number(number) === 1 ? unit.replace(/s$/, "") : unit}`;

// What an adversary wants to know, by the neighbour relation.
export const SECRET = {
  "add-remove": "a given person is in the data",
  substitute: "a given person's record is the one or the other of two",
  edge: "two given people are connected",
  swap: "a given person or another one is a member",
};
