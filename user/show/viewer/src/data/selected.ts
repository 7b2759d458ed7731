// SPDX-License-Identifier: BSD-3-Clause
// How much of everything the filters select; where they select nothing, the values that would.
import { UNKNOWN } from "./causes";
import type { Engine } from "./engine";
import { Model, Sort, SORTS } from "./model";
import type { Selection } from "./filter";
import { View } from "./view";

export interface Part {
  count: number;
  of: number;
  unknown: number; // more that are shown, since their causes are not known
  bytes: number;
  bytesOf: number;
}

const whole = new WeakMap<ReadonlySet<number>, View>(); // by the kind of transfers, which is no filter
const NO_SIZES: ReadonlySet<number> = new Set();

function wholeOf(engine: Engine, kind: ReadonlySet<number>): View {
  let view = whole.get(kind);
  if (!view) whole.set(kind, (view = new View(engine, { wanted: new Map([["kind", kind]]), sizes: NO_SIZES, range: null }, null)));
  return view;
}

// The page had no room for what calls, operations and messages caused.
export function causesDropped(model: Model): boolean {
  return model.directory.cube.merged.some((name) => name.endsWith("causes"));
}

// Sums whose causes are not known: they lack the field of a filter below them.
function unknownIn(view: View, sort: Sort): { count: number; bytes: number } {
  const { conditions } = view.filter;
  const open = sort === "calls" ? conditions.below : sort === "ops" && conditions.ofTransfers;
  if (!open || causesDropped(view.engine.model)) return { count: 0, bytes: 0 };
  const row = view.group(sort, [view.facts(sort).column("causes")], ["count", "bytes"]).find(({ codes }) => codes[0] === UNKNOWN);
  return { count: row?.sums[0] ?? 0, bytes: row?.sums[1] ?? 0 };
}

export function selected(view: View): Record<Sort, Part> {
  const all = wholeOf(view.engine, view.selection.wanted.get("kind")!);
  const part = (sort: Sort): Part => {
    const unknown = unknownIn(view, sort);
    return {
      count: view.total(sort, "count") - unknown.count, of: all.total(sort, "count"), unknown: unknown.count,
      bytes: view.total(sort, "bytes") - unknown.bytes, bytesOf: all.total(sort, "bytes"),
    };
  };
  return Object.fromEntries(SORTS.map((sort) => [sort, part(sort)])) as Record<Sort, Part>;
}

export interface Instead {
  label: string; // of a filter
  values: string[]; // of transfers that pass all others, most frequent first; none: a time, or sizes
}

// For each filter, what passes the others.
export function instead(view: View): Instead[] {
  const { engine, selection } = view;
  const out: Instead[] = [];
  for (const id of selection.wanted.keys()) {
    const dim = engine.dim(id);
    const amounts = id === "kind" ? null : view.facet("transfers", dim, "count");
    if (!amounts) continue;
    const codes = Array.from(amounts.keys()).filter((code) => amounts[code]).sort((a, b) => amounts[b] - amounts[a]);
    if (codes.length) out.push({ label: dim.label, values: codes.map((code) => dim.values[code]) });
  }
  const without = (label: string, part: Partial<Selection>) => {
    if (new View(engine, { ...selection, ...part }, null).total("transfers", "count")) out.push({ label, values: [] });
  };
  if (selection.range) without("another time", { range: null });
  if (selection.sizes.size) without("other sizes", { sizes: NO_SIZES });
  return out;
}
