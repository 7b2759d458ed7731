// SPDX-License-Identifier: BSD-3-Clause
// How exact a sum of times is (bits of docs/viewer-data.md), in the signs of the text report.
import { time } from "../ui/format";

const SIGNS: Record<number, string> = { 2: "", 4: "<= ", 8: ">= ", 16: "" };
const WORDS: Record<number, string> = { 2: "exact", 4: "upper bound", 8: "lower bound", 16: "sampled" };

export function precisionWord(bits: number): string {
  return WORDS[bits] ?? (bits ? "mixed" : "unknown");
}

const LOWER_BOUND = 8;

// A lower bound of nothing says nothing.
export function tellsNothing(ns: number, bits: number): boolean {
  return ns === 0 && bits === LOWER_BOUND;
}

export function signedTime(ns: number, bits: number): string {
  if (tellsNothing(ns, bits)) return "?";
  return `${SIGNS[bits] ?? "~ "}${time(ns)}`;
}

export function meanTime(sum: number, timed: number, bits: number): string {
  return timed ? signedTime(sum / timed, bits) : "unknown";
}
