// SPDX-License-Identifier: BSD-3-Clause
// Who moved how much to whom, by process or by host.
import type { View } from "./engine";
import type { Facts, Model, Sort } from "./model";

export type By = "process" | "host";
export type Of = "transfers" | "messages";

export interface PairCell {
  src: number;
  dst: number;
  bytes: number;
  count: number;
  timed: number;
  time: number;
  precision: number;
}

const hostColumns = new WeakMap<Uint32Array, Uint32Array>();

// Codes of processes, or of their hosts.
export function ends(model: Model, facts: Facts, name: "src" | "dst", by: By): Uint32Array {
  const column = facts.column(name);
  if (by === "process") return column;
  let hosts = hostColumns.get(column);
  if (!hosts) hostColumns.set(column, (hosts = column.map((code) => model.hostOf(code))));
  return hosts;
}

export function pairCells(model: Model, view: View, of: Of, by: By): PairCell[] {
  const facts = model.facts[of];
  const columns = [ends(model, facts, "src", by), ends(model, facts, "dst", by)];
  const { rows, codes, sums } = view.sumsBy(of, columns, ["bytes", "count", "timed", "time_sum", "precision"]);
  const [src, dst] = codes;
  const [bytes, count, timed, time, precision] = sums;
  return Array.from(rows, (row) => ({
    src: src[row], dst: dst[row], bytes: bytes[row], count: count[row], timed: timed[row], time: time[row],
    precision: precision[row],
  }));
}

export interface Split {
  title: string;
  rows: [string, number, number][]; // name, bytes, count; largest first
}

const SPLITS: Record<Of, [string, string][]> = {
  transfers: [["transport", "Transport"], ["op", "UCT operation"], ["protocol", "Protocol"], ["function", "MPI function"]],
  messages: [["function", "MPI function"], ["ucp_op", "UCP operation"]],
};

// What one pair's sum is made of.
export function splitPair(model: Model, view: View, of: Of, by: By, src: number, dst: number): Split[] {
  const facts = model.facts[of as Sort];
  const [from, to] = [ends(model, facts, "src", by), ends(model, facts, "dst", by)];
  const fails = view.fails[of];
  const keys: number[] = [];
  for (let i = 0; i < facts.keys; i++) if (!fails[i] && from[i] === src && to[i] === dst) keys.push(i);
  const [bytes, counts] = [view.perKey(of, "bytes"), view.perKey(of, "count")];
  return SPLITS[of].map(([column, title]) => {
    const codes = facts.column(column);
    const rows = new Map<string, [string, number, number]>();
    for (const key of keys) {
      if (!counts[key]) continue;
      const name = model.names[codes[key]] ?? (column === "function" ? "outside MPI" : "unknown");
      const row = rows.get(name) ?? [name, 0, 0];
      row[1] += bytes[key];
      row[2] += counts[key];
      rows.set(name, row);
    }
    return { title, rows: [...rows.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]) };
  });
}
