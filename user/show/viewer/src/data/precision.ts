// SPDX-License-Identifier: BSD-3-Clause
// How exact a sum of times is (bits of docs/viewer-data.md), in the signs of the text report.
import { count, time } from "../ui/format";

const SIGNS: Record<number, string> = { 2: "", 4: "<= ", 8: ">= ", 16: "" };
const WORDS: Record<number, string> = { 2: "exact", 4: "upper bound", 8: "lower bound", 16: "sampled" };

export function precisionWord(bits: number): string {
  return WORDS[bits] ?? (bits ? "mixed" : "unknown");
}

const EXACT = 2 | 16;
const LOWER_BOUND = 8;

export function allExact(bits: number): boolean {
  return bits !== 0 && (bits & ~EXACT) === 0;
}

// A lower bound of nothing says nothing.
export function tellsNothing(ns: number, bits: number): boolean {
  return ns === 0 && bits === LOWER_BOUND;
}

export function signedTime(ns: number, bits: number): string {
  if (tellsNothing(ns, bits)) return "?";
  return `${SIGNS[bits] ?? "~ "}${time(ns)}`;
}

export interface Times {
  timed: number; // facts, and their time
  time: number;
  precision: number; // bits
  exact: number; // of these, the exact ones, and their time
  exactTime: number;
}

// The mean of the exact ones, with their share; without any, a bound of the mean.
export function meanTime({ timed, time: sum, precision, exact, exactTime }: Times): string {
  if (!timed) return "unknown";
  if (!exact) return signedTime(sum / timed, precision);
  return `${time(exactTime / exact)}${exact < timed ? ` (${count(exact)} of ${count(timed)})` : ""}`;
}
