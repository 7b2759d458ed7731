// SPDX-License-Identifier: BSD-3-Clause
// What MPI calls of the timeline were held by: single waits for other processes, and calls that have not returned.
import type { Open } from "./directory";
import type { Model } from "./model";
import type { Codes } from "./section";

export interface Waits {
  length: number;
  start: Float64Array; // ns of the timeline
  own: Codes; // likewise of the host
  reach: Float64Array; // latest end up to here, of the same process
  bounds: Map<number, [number, number]>; // by process code: first, end
  process: Codes;
  call: Codes; // event + 1
  duration: Codes;
  kind: Codes; // words
  culprit: Codes; // processes
  function: Codes; // words, of the culprit
  did: Codes;
  root: Codes;
  root_function: Codes;
  root_did: Codes;
  ns: Codes; // of it that no wait of the same call and kind told of before
  fresh: Codes; // likewise, of the same call and any kind
  uncertainty: Codes;
  place: Codes; // of the culprit's call
  root_place: Codes;
}

export function readWaits(model: Model, begin: (host: number) => number): Waits {
  const section = model.find("waits") ? model.section("waits") : null;
  const column = (name: string) => section?.column(name) ?? new Uint8Array(0);
  const [process, start, duration] = ["process", "start", "duration"].map(column);
  const out: Waits = {
    length: process.length, start: new Float64Array(process.length), reach: new Float64Array(process.length), bounds: new Map(),
    own: start, process, duration, call: column("call"), kind: column("kind"), culprit: column("culprit"), function: column("function"),
    did: column("did"), root: column("root"), root_function: column("root_function"), root_did: column("root_did"),
    ns: column("ns"), fresh: column("fresh"), uncertainty: column("uncertainty"), place: column("place"), root_place: column("root_place"),
  };
  for (let i = 0; i < out.length; i++) {
    const known = out.bounds.get(process[i]);
    if (known) known[1] = i + 1;
    else out.bounds.set(process[i], [i, i + 1]);
    out.start[i] = start[i] + begin(model.hostOf(process[i]) - 1);
    out.reach[i] = Math.max(out.start[i] + duration[i], known ? out.reach[i - 1] : 0);
  }
  return out;
}

// The first row from `low` on, of those before `high`, of which it holds; it holds of all that follow.
function search(low: number, high: number, holds: (at: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Rows of a process that overlap a time.
export function waitsWithin(waits: Waits, process: number, from: number, to: number): number[] {
  const bounds = waits.bounds.get(process);
  if (!bounds) return [];
  const first = search(bounds[0], bounds[1], (at) => waits.reach[at] > from);
  const end = search(first, bounds[1], (at) => waits.start[at] >= to);
  return Array.from({ length: end - first }, (_, i) => first + i).filter((at) => waits.start[at] + waits.duration[at] > from);
}

// The waits of one call, an event.
export function waitsOf(waits: Waits, process: number, call: number, from: number, to: number): number[] {
  return waitsWithin(waits, process, from, Math.max(to, from + 1)).filter((at) => waits.call[at] === call + 1);
}

// Time that is in at least one of them.
export function covered(waits: Waits, rows: number[], from: number, to: number): number {
  let [out, until] = [0, from];
  for (const at of rows) {
    const [start, end] = [Math.max(until, waits.start[at]), Math.min(to, waits.start[at] + waits.duration[at])];
    if (end > start) out += end - start;
    until = Math.max(until, end);
  }
  return out;
}

export interface Held {
  open: Open;
  process: number; // code
  from: number; // ns of the timeline
  to: number;
}

export function readOpen(model: Model, begin: (host: number) => number): Held[] {
  return (model.report.open ?? []).filter((open) => open.process !== null).map((open) => {
    const process = open.process! + 1;
    const from = open.since_ns + begin(model.hostOf(process) - 1);
    return { open, process, from, to: from + open.age_ns };
  });
}

export const NOTICED = 1e8; // ns that a call must be open to count, as in user/explain/hang/hang.h

// From when on calls are open for certain, to the end; null: none is.
export function hungTime(open: Held[], span: number): { from: number; to: number } | null {
  const held = open.filter(({ open: { certain }, from, to }) => certain && to - from >= NOTICED);
  return held.length ? { from: Math.min(...held.map(({ from }) => from)), to: span } : null;
}
