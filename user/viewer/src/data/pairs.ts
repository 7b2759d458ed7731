// SPDX-License-Identifier: BSD-3-Clause
// Who moved how much to whom, by process or by host.
import type { View } from "./engine";
import type { Facts, Model, Sort } from "./model";

export type By = "process" | "host";
export type Of = "transfers" | "messages";

// Of the pairs in `rows`, by pair.
export interface PairSums {
  rows: Uint32Array;
  src: Uint32Array;
  dst: Uint32Array;
  bytes: Float64Array;
  count: Float64Array;
  mean: Float64Array | null; // time, 0 where none is known
}

export interface Pair {
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

function between(model: Model, of: Of, by: By): Uint32Array[] {
  const facts = model.facts[of];
  return [ends(model, facts, "src", by), ends(model, facts, "dst", by)];
}

export function pairSums(model: Model, view: View, of: Of, by: By, times: boolean): PairSums {
  const names = ["bytes", "count", ...(times ? ["timed", "time_sum"] : [])];
  const { rows, codes, sums } = view.sumsBy(of, between(model, of, by), names);
  const [bytes, count, timed, time] = sums;
  return { rows, src: codes[0], dst: codes[1], bytes, count, mean: times ? time.map((ns, i) => (timed[i] ? ns / timed[i] : 0)) : null };
}

// Positions in the view's rows.
function rowsOf(model: Model, view: View, of: Of, by: By, src: number, dst: number): number[] {
  const [from, to] = between(model, of, by);
  const { key } = view.rows(of);
  const out: number[] = [];
  for (let i = 0; i < key.length; i++) if (from[key[i]] === src && to[key[i]] === dst) out.push(i);
  return out;
}

export function pairOf(model: Model, view: View, of: Of, by: By, src: number, dst: number): Pair | null {
  const own = rowsOf(model, view, of, by, src, dst);
  const { at } = view.rows(of);
  const sum = (name: string) => own.reduce((n, i) => n + view.values(of, name)[at[i]], 0);
  const precision = own.reduce((bits, i) => bits | view.values(of, "precision")[at[i]], 0);
  return own.length ? { bytes: sum("bytes"), count: sum("count"), timed: sum("timed"), time: sum("time_sum"), precision } : null;
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
  const own = rowsOf(model, view, of, by, src, dst);
  const { key, at } = view.rows(of);
  const [bytes, counts] = [view.values(of, "bytes"), view.values(of, "count")];
  return SPLITS[of].map(([column, title]) => {
    const codes = facts.column(column);
    const rows = new Map<string, [string, number, number]>();
    for (const i of own) {
      if (!counts[at[i]]) continue;
      const name = model.names[codes[key[i]]] ?? (column === "function" ? "outside MPI" : "unknown");
      const row = rows.get(name) ?? [name, 0, 0];
      row[1] += bytes[at[i]];
      row[2] += counts[at[i]];
      rows.set(name, row);
    }
    return { title, rows: [...rows.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]) };
  });
}
