// SPDX-License-Identifier: BSD-3-Clause
// The numbers that the views must show, added up anew from `replay --json`.
import { execFileSync } from "node:child_process";

export function replay(ucxbpf, captures, filters = []) {
  const out = execFileSync(ucxbpf, ["replay", "--json", ...filters, ...[captures].flat()], { maxBuffer: 1 << 28 });
  return JSON.parse(out);
}

export function events(ucxbpf, capture) {
  const out = execFileSync(ucxbpf, ["export", "--format", "ndjson", "-o", "-", capture], { maxBuffer: 1 << 28 });
  return out.toString().trimEnd().split("\n").map((line) => JSON.parse(line));
}

const OF_TIME = { time_ns: "sum_ns", timed: "known", exact: "exact", exact_ns: "exact_sum_ns", exact_bytes: "exact_bytes" };

// Adds rows up by some keys: "a/b" → { count, bytes, ... }
export function sums(rows, key, fields) {
  const out = new Map();
  for (const row of rows) {
    const id = key(row);
    const at = out.get(id) ?? Object.fromEntries(fields.map((field) => [field, 0]));
    for (const field of fields) at[field] += (field in OF_TIME ? row.time?.[OF_TIME[field]] : row[field]) ?? 0;
    out.set(id, at);
  }
  return out;
}

const COPIERS = ["cuda_copy", "gdr_copy", "rocm_copy", "ze_copy"]; // between memory of one process

// From whom to whom the data goes.
export function ends(transfer) {
  const [me, other] = [transfer.process, transfer.peer];
  return transfer.op.startsWith("get") && !COPIERS.includes(transfer.transport) ? [other, me] : [me, other];
}

export const ofKind = (report, kind) => report.transfers.filter((row) => row.kind === kind);

export function label(report, id) {
  if (id === null) return "unknown";
  const { rank, comm, pid } = report.processes[id];
  return rank === null ? `${comm} ${pid}` : `${rank}`;
}

// As the text report and the page write bytes.
export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB"];
  if (value < 1024) return `${value} B`;
  let unit = 0;
  for (; value >= 1023.488 && unit < 3; unit++) value /= 1024;
  const places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const scaled = value * 10 ** places;
  const tie = Math.floor(scaled) + 0.5 === scaled; // printf takes the even one; bytes over powers of two are exact
  const whole = tie ? 2 * Math.round(scaled / 2) : Math.round(scaled);
  return `${(whole / 10 ** places).toFixed(places)} ${units[unit]}`;
}

export const count = (value) => value.toLocaleString("en-US");
