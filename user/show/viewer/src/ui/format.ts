// SPDX-License-Identifier: BSD-3-Clause
// Numbers as the text report writes them: three digits, binary units for bytes.

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const TIME_UNITS: [string, number][] = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];

// As C's printf: ties round to even.
function fixed(value: number, places: number): string {
  const scaled = value * 10 ** places;
  const low = Math.floor(scaled);
  const between = scaled - low === 0.5 && (low + 0.5) / 10 ** places === value;
  return between ? ((low + (low % 2)) / 10 ** places).toFixed(places) : value.toFixed(places);
}

function digits(value: number): string {
  return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

export function count(value: number): string {
  return GROUPED.format(value);
}

export function bytes(value: number): string {
  if (value < 1024) return `${GROUPED.format(value)} B`;
  let unit = 0;
  // 1023.5 KiB and more would be rounded to "1024 KiB", a number nobody writes
  while (unit < BYTE_UNITS.length - 1 && value >= 1023.488) {
    value /= 1024;
    unit++;
  }
  return `${digits(value)} ${BYTE_UNITS[unit]}`;
}

export function time(ns: number): string {
  const sign = ns < 0 ? "-" : "";
  const size = Math.abs(ns);
  if (size === 0) return "0 s";
  let row = TIME_UNITS[0];
  for (const next of TIME_UNITS) if (size >= next[1] * 0.9995) row = next;
  const value = size / row[1];
  return `${sign}${row[1] === 1 ? value.toFixed(0) : digits(value)} ${row[0]}`;
}

// A point in time with as many digits as tell it from one that is `step` ns away.
export function instant(ns: number, step: number): string {
  let row = TIME_UNITS[0];
  for (const next of TIME_UNITS) if (Math.max(Math.abs(ns), step) >= next[1]) row = next;
  const places = Math.min(9, Math.max(0, Math.ceil(Math.log10(row[1] / step) - 1e-9)));
  return `${(ns / row[1]).toFixed(places)} ${row[0]}`;
}

// 1, 2 or 5 times a power of ten, not below a length.
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least * 0.999) ?? power;
}

// Shares below half a tenth of a percent are not nothing.
export function share(part: number, whole: number): string {
  if (!(whole > 0)) return "-";
  const percent = (100 * part) / whole;
  if (part > 0 && percent < 0.05) return "<0.1 %";
  if (part < whole && percent >= 99.95) return ">99.9 %";
  return `${fixed(percent, part === 0 || part === whole ? 0 : 1)} %`;
}

const LONG = 100; // characters

// Names may be of any length.
export function brief(name: string): string {
  const letters = name.length > LONG ? [...name] : [];
  return letters.length > LONG ? `${letters.slice(0, LONG - 1).join("")}…` : name;
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
