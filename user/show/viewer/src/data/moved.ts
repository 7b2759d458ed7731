// SPDX-License-Identifier: BSD-3-Clause
// Rows of calls or operations, each with the transfers that pass the filters and that it caused.
import type { Group, View } from "./view";

export interface Caused extends Group {
  moved: { count: number; bytes: number } | null; // null: no filter is on what calls or operations cause
}

// The columns are those of transfers as well: a transfer has those of the operation that caused it.
export function causedRows(view: View, sort: "calls" | "ops", columns: string[], names: string[]): Caused[] {
  const by = (of: "calls" | "ops" | "transfers") => columns.map((name) => view.facts(of).column(name));
  const groups = view.group(sort, by(sort), names);
  if (!view.filter.conditions.below) return groups.map((group) => ({ ...group, moved: null }));
  const rows = new Map(groups.map((group) => [group.codes.join(), { ...group, moved: { count: 0, bytes: 0 } }]));
  for (const { codes, sums: [count, bytes] } of view.group("transfers", by("transfers"), ["count", "bytes"])) {
    if (!count) continue;
    const id = codes.join();
    const row = rows.get(id) ?? { codes, sums: names.map(() => 0), moved: { count: 0, bytes: 0 } };
    row.moved = { count, bytes };
    rows.set(id, row);
  }
  return [...rows.values()];
}
