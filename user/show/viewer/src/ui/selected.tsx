// SPDX-License-Identifier: BSD-3-Clause
// How much the filters select, above every view; where they select nothing, the values that would.
import { useMemo } from "preact/hooks";
import { causesDropped, Instead, instead, Part, selected } from "../data/selected";
import type { View } from "../data/view";
import { filtered, KIND_NOUNS, kindOf, model, settled } from "../state/state";
import { bytes, count } from "./format";

const SOME = 8;

const amount = ({ bytes: own, bytesOf, ...part }: Part, noun: string) =>
  `${count(part.count)} of ${count(part.of)} ${noun} (${bytes(own)} of ${bytes(bytesOf)})`;

function among({ label, values }: Instead): string {
  const more = values.length > SOME ? ` and ${count(values.length - SOME)} more` : "";
  return values.length ? `${label}: ${values.slice(0, SOME).join(", ")}${more}` : label;
}

function nothing(view: View): string {
  const others = instead(view);
  return others.length ? `Nothing passes the filters. With the other filters there is: ${others.map(among).join("; ")}.`
    : "Nothing passes the filters, nor without any single one of them.";
}

// Reasons why the numbers are not the whole truth.
function caveat(view: View, parts: Record<string, Part>): string | null {
  const { conditions } = view.filter;
  const names = conditions.causal.filter(({ columns }) => !columns.calls).map(({ label }) => label).join(", ");
  if (!conditions.below) return null;
  if (causesDropped(model))
    return `This page has no room for what calls, operations and messages caused: those are not selected by ${names}. ucxbpf replay selects them.`;
  const unknown = Object.entries(parts).filter(([, { unknown: n }]) => n).map(([sort, { unknown: n }]) => `${count(n)} ${sort === "ops" ? "operations" : sort}`);
  return unknown.length ? `Shown as well: ${unknown.join(", ")} that are known by their sums alone, without what they caused.` : null;
}

function Words({ view }: { view: View }) {
  const parts = selected(view);
  const { calls, ops, transfers, messages } = parts;
  const none = Object.values(parts).every((part) => !part.count);
  const rows = [amount(calls, "MPI calls"), amount(ops, "operations"), amount(transfers, KIND_NOUNS[kindOf(view)][1]), amount(messages, "messages")];
  const more = caveat(view, parts);
  return (
    <p class={`selected ${none ? "warn" : ""}`} id="selected" role="status">
      {none ? nothing(view) : <><b>Selected</b> {rows.join(", ")}.</>}
      {more && <span class="soft"> {more}</span>}
    </p>
  );
}

export function Selected() {
  const view = settled.value;
  return useMemo(() => (filtered.value ? <Words view={view} /> : null), [view, filtered.value]);
}
