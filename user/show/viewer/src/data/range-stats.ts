// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a part of the run: time in MPI calls and waiting, as far as they lie in it, by function and by process.
import type { Filter } from "./filter";
import { covered, waitsWithin } from "./held";
import { Lane, Level, MPI, Timeline, UCT } from "./timeline";

export interface Part {
  calls: number; // that overlap it
  time: number; // ns in it
  waited: number;
}

export interface RangeStats {
  exact: boolean; // from single events; else from sums over steps, without functions
  step: number; // ns, of these
  span: number; // of all processes, ns
  functions: Map<number, Part>; // by name
  processes: Map<number, Part>; // by code
  transfers: number; // data transfers that begin in it
  bytes: number;
}

export type Window = { from: number; to: number };

function add(map: Map<number, Part>, key: number, calls: number, time: number, waited: number) {
  const at = map.get(key);
  if (!at) return void map.set(key, { calls, time, waited });
  at.calls += calls;
  at.time += time;
  at.waited += waited;
}

function addCalls(stats: RangeStats, timeline: Timeline, lane: Lane, { from, to }: Window, fails: Uint8Array) {
  const { events, waits, model } = timeline;
  const functions = model.facts.calls.column("function");
  const byCall = new Map<number, number[]>();
  for (const at of waitsWithin(waits, lane.process, from, to)) {
    const list = byCall.get(waits.call[at] - 1);
    if (list) list.push(at);
    else byCall.set(waits.call[at] - 1, [at]);
  }
  const [first, end] = timeline.within(lane, from, to);
  for (let event = lane.first + first; event < lane.first + end; event++) {
    const [start, stop] = [Math.max(from, events.start[event]), Math.min(to, events.start[event] + events.duration[event])];
    if (stop < start || events.start[event] >= to || fails[events.key[event]]) continue;
    const held = byCall.get(event);
    const waited = held ? covered(waits, held, from, to) : 0;
    add(stats.functions, functions[events.key[event]], 1, stop - start, waited);
    add(stats.processes, lane.process, 1, stop - start, waited);
  }
}

// A step counts as far as it lies in the window.
function addSteps(stats: RangeStats, timeline: Timeline, lane: Lane, { from, to }: Window, level: Level) {
  const { bucket, busy, waited } = level.columns;
  const zero = level.zero.get(lane.host) ?? 0;
  for (let i = timeline.levelRow(level, lane, Math.floor((from - zero) / level.bucket)); i < timeline.levelEnd(level, lane); i++) {
    const start = zero + bucket[i] * level.bucket;
    if (start >= to) break;
    const share = (Math.min(to, start + level.bucket) - Math.max(from, start)) / level.bucket;
    add(stats.processes, lane.process, 0, busy[i] * share, waited[i] * share);
  }
}

export function rangeStats(timeline: Timeline, lanes: Lane[], time: (host: number) => Window, filter: Filter): RangeStats {
  const { kept, of } = timeline.model.directory.timeline.events;
  const exact = kept === of;
  const level = timeline.levels[0] ?? null;
  const stats: RangeStats = {
    exact, step: level?.bucket ?? 0, span: 0, functions: new Map(), processes: new Map(), transfers: 0, bytes: 0,
  };
  const [calls, transfers] = [filter.fails("calls"), filter.fails("transfers")];
  const kinds = timeline.model.facts.transfers.column("kind");
  const { events } = timeline;
  for (const lane of lanes) {
    const window = time(lane.host);
    if (lane.layer === MPI) {
      stats.span += window.to - window.from;
      if (exact) addCalls(stats, timeline, lane, window, calls);
      else if (level) addSteps(stats, timeline, lane, window, level);
    }
    if (lane.layer !== UCT || !exact) continue;
    const [first, end] = timeline.within(lane, window.from, window.to);
    for (let event = lane.first + first; event < lane.first + end; event++) {
      if (events.start[event] < window.from || events.start[event] >= window.to || transfers[events.key[event]]) continue;
      if (kinds[events.key[event]] || events.flags[event] & 2) continue;
      stats.transfers += events.count[event];
      stats.bytes += Math.max(0, events.bytes[event] - 1);
    }
  }
  return stats;
}
