// SPDX-License-Identifier: BSD-3-Clause
// Who moved how much to whom, by process or by host.
import type { View } from "./view";
import type { Facts, Model, Sort } from "./model";
import type { Times } from "./precision";
import type { Table } from "./tables";

export type By = "process" | "host";
export type Of = "transfers" | "messages";

// By pair, for the pairs in `rows`.
export interface PairSums {
  rows: Uint32Array;
  src: Uint32Array;
  dst: Uint32Array;
  bytes: Float64Array;
  count: Float64Array;
  mean: Float64Array | null; // of exact times, 0 where none is
}

export interface Pair extends Times {
  bytes: number;
  count: number;
}

// Codes of processes, or of their hosts.
export function ends(model: Model, facts: Facts, name: "src" | "dst", by: By): Uint32Array {
  const column = facts.column(name);
  return by === "process" ? column : model.hostsOf(column);
}

function between(model: Model, of: Of, by: By): Uint32Array[] {
  const facts = model.facts[of];
  return [ends(model, facts, "src", by), ends(model, facts, "dst", by)];
}

export function pairSums(model: Model, view: View, of: Of, by: By, times: boolean): PairSums {
  const names = ["bytes", "count", ...(times ? ["exact", "exact_time_sum"] : [])];
  const { rows, codes, sums } = view.sumsBy(of, between(model, of, by), names);
  const [bytes, count, exact, time] = sums;
  return { rows, src: codes[0], dst: codes[1], bytes, count, mean: times ? time.map((ns, i) => (exact[i] ? ns / exact[i] : 0)) : null };
}

function rowsOf(model: Model, view: View, of: Of, by: By, src: number, dst: number): { table: Table; own: number[] } {
  const [from, to] = between(model, of, by);
  const { table, at } = view.rows(of);
  const own: number[] = [];
  for (const row of at) if (from[table.key[row]] === src && to[table.key[row]] === dst) own.push(row);
  return { table, own };
}

export function pairOf(model: Model, view: View, of: Of, by: By, src: number, dst: number): Pair | null {
  const { table, own } = rowsOf(model, view, of, by, src, dst);
  const sum = (name: string) => own.reduce((n, row) => n + table.values(name)[row], 0);
  const precision = own.reduce((bits, row) => bits | table.values("precision")[row], 0);
  if (!own.length) return null;
  return {
    bytes: sum("bytes"), count: sum("count"), timed: sum("timed"), time: sum("time_sum"), precision, exact: sum("exact"), exactTime: sum("exact_time_sum"),
  };
}

export interface Split {
  title: string;
  rows: [string, number, number][]; // name, bytes, count; largest first
}

const SPLITS: Record<Of, [string, string][]> = {
  transfers: [["transport", "Transport"], ["op", "UCT operation"], ["protocol", "Protocol"], ["function", "MPI function"]],
  messages: [["function", "MPI function"], ["ucp_op", "UCP operation"]],
};

// The parts of one pair's sum.
export function splitPair(model: Model, view: View, of: Of, by: By, src: number, dst: number): Split[] {
  const facts = model.facts[of as Sort];
  const { table, own } = rowsOf(model, view, of, by, src, dst);
  const [bytes, counts] = [table.values("bytes"), table.values("count")];
  return SPLITS[of].map(([column, title]) => {
    const codes = facts.column(column);
    const rows = new Map<string, [string, number, number]>();
    for (const i of own) {
      if (!counts[i]) continue;
      const name = model.names[codes[table.key[i]]] ?? (column === "function" ? model.outside : "unknown");
      const row = rows.get(name) ?? [name, 0, 0];
      row[1] += bytes[i];
      row[2] += counts[i];
      rows.set(name, row);
    }
    return { title, rows: [...rows.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]) };
  });
}
