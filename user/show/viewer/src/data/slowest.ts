// SPDX-License-Identifier: BSD-3-Clause
// The transfers that took longest: among all single events where all are kept, else the report's.
import type { Slow } from "./directory";
import type { View } from "./view";
import type { Events, Timeline } from "./timeline";

export const MOST = 20;
const PRECISIONS = ["unknown", "exact", "upper_bound", "lower_bound"];
const UPPER_BOUND = PRECISIONS.indexOf("upper_bound");
const NOTHING_SENT = 2;

export function sizeClass(bytes: number): number {
  return bytes === 0 ? 1 : Math.floor(Math.log2(bytes)) + 2;
}

// The class of an event's size, as the cube has it.
export function eventSize(events: Events, event: number): number {
  return events.bytes[event] ? sizeClass(events.bytes[event] - 1) : 0;
}

// Whether a time of a host is in the chosen range, which is in buckets.
export function inRange(view: View, host: number, ns: number): boolean {
  const { range } = view.selection;
  if (!range) return true;
  const { hosts, bucket_ns } = view.engine.model.directory.time;
  const zero = hosts.find((row) => row.host === host)?.zero_ns ?? 0;
  const bucket = Math.floor((ns - zero) / bucket_ns);
  return bucket >= range.from && bucket < range.to;
}

export function slowestEvents(timeline: Timeline, view: View): number[] {
  const { events, lanes } = timeline;
  const { sizes } = view.selection;
  const fails = view.filter.fails("transfers");
  const best: number[] = [];
  let least = -1;
  for (const lane of lanes) {
    if (lane.layer !== 2) continue;
    for (let i = lane.first; i < lane.end; i++) {
      if ((best.length === MOST && events.duration[i] <= least) || fails[events.key[i]]) continue;
      // an upper bound says nothing of how slow it was
      if (!events.precision[i] || events.precision[i] === UPPER_BOUND) continue;
      if (events.flags[i] & NOTHING_SENT || events.count[i] > 1) continue;
      if (sizes.size && !sizes.has(eventSize(events, i))) continue;
      if (!inRange(view, lane.host, events.start[i] - timeline.begin(lane.host))) continue;
      best.push(i);
      best.sort((a, b) => events.duration[b] - events.duration[a] || events.start[a] - events.start[b]);
      if (best.length > MOST) best.pop();
      least = events.duration[best[best.length - 1]];
    }
  }
  return best;
}

export function asSlow(timeline: Timeline, event: number): Slow {
  const { events, model } = timeline;
  const f = model.facts.transfers;
  const key = events.key[event];
  const name = (column: string) => model.names[f.column(column)[key]];
  const peer = f.column("peer")[key];
  return {
    process: timeline.lanes[events.lane[event]].process - 1, peer: peer ? peer - 1 : null, op: name("op") ?? "unknown",
    transport: name("transport") ?? "unknown", device: name("device") ?? "unknown", ucp_op: name("ucp_op"),
    function: name("function"), bytes: events.bytes[event] ? events.bytes[event] - 1 : null,
    time_ns: events.duration[event], precision: PRECISIONS[events.precision[event]] ?? "mixed", at_ns: events.start[event] - timeline.begin(timeline.lanes[events.lane[event]].host),
  };
}
