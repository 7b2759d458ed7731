// SPDX-License-Identifier: BSD-3-Clause
// Layers that the captures did not record all the time: values that follow from them are bounds, or unknown.
import { time } from "../ui/format";
import type { Layer, Report } from "./directory";

export type Extent = "always" | "partly" | "never";

export const recorded = (report: Report, layer: Layer): Extent => report.layers?.[layer].recorded ?? "always";

/** An amount that follows from a layer: a lower bound, or unknown, where that was not recorded all the time. */
export function amount(report: Report, layer: Layer, text: string): string {
  return { always: text, partly: `≥ ${text}`, never: "?" }[recorded(report, layer)];
}

const WORDS: [Layer, string][] = [["ucp", "operations"], ["uct", "transfers"]];

/** "operations were recorded in 1.07 s of 5.33 s", "transfers were not recorded" */
export function lacking(report: Report): string[] {
  return WORDS.filter(([layer]) => recorded(report, layer) !== "always").map(([layer, word]) => {
    const { ns, of_ns } = report.layers![layer];
    return ns ? `${word} were recorded in ${time(ns)} of ${time(of_ns)}` : `${word} were not recorded`;
  });
}

/** The text for an empty table or chart of transfers; null: transfers were recorded, and there were none. */
export function withoutTransfers(report: Report): string | null {
  const parts = recorded(report, "uct") === "always" ? [] : lacking(report);
  return parts.length ? `Not known: ${parts.at(-1)}.` : null;
}
