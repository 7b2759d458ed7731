// SPDX-License-Identifier: BSD-3-Clause
// The reader's choices here: an event, a time for all views, and what dragging does.
import type { Timeline } from "../../data/timeline";
import { model, option, range, setOption } from "../../state/state";
import type { Window } from "./scene";

export type Tool = "pan" | "range";

export const chosenTool = () => option("timeline.tool", "pan") as Tool;
export const chooseTool = (tool: Tool) => setOption("timeline.tool", tool);

export function chosenEvent({ events }: Timeline): number | null {
  const event = Number(option("timeline.event", "-1"));
  return event >= 0 && event < events.length ? event : null;
}

export function chooseEvent(event: number | null) {
  setOption("timeline.event", event === null ? "-1" : `${event}`);
}

// A range is of each host's own time, so it lies elsewhere for each.
export function chosenTime(timeline: Timeline): ((host: number) => Window) | null {
  const at = range.value;
  const { hosts, bucket_ns } = model.directory.time;
  const zeros = new Map(hosts.map((row) => [row.host, row.zero_ns + timeline.begin(row.host)]));
  const start = (host: number, bucket: number) => (zeros.get(host) ?? 0) + bucket * bucket_ns;
  return at && ((host) => ({ from: start(host, at.from), to: start(host, at.to) }));
}

// On the clock of the host whose tracks it covers.
export function chooseTime(timeline: Timeline, host: number, { from, to }: Window) {
  const { hosts, bucket_ns, buckets } = model.directory.time;
  const zero = (hosts.find((row) => row.host === host)?.zero_ns ?? 0) + timeline.begin(host);
  const a = Math.max(0, Math.floor((from - zero) / bucket_ns));
  const b = Math.min(buckets, Math.ceil((to - zero) / bucket_ns));
  range.value = b > a ? { from: a, to: b } : null;
}
