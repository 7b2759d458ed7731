// SPDX-License-Identifier: BSD-3-Clause
// An event in words, for the box under the pointer and the table beside the timeline.
import { LAYER_NAMES, LAYER_SORTS, LAYERS, MPI, Timeline, UCP, UCT } from "../../data/timeline";
import { bytes, count, instant, time } from "../../ui/format";
import { openOf, waitWords } from "./held-words";

const SIGNS = ["", "", "<= ", ">= "];
const FLAGS: [number, string][] = [[1, "ended with an error"], [2, "found no resource: nothing was sent"],
  [8, "derived from its operation"]];

export interface Words {
  layer: string;
  name: string;
  who: string;
  start: string;
  duration: string;
  bytes: string;
  place: string | null; // where an MPI function was called, in short
  held: string | null; // whom it waited for
  open: string | null; // that it has not returned
  how: string; // the rest
  transport: string | null;
}

const LOWER_BOUND = 3;

function durationOf({ events }: Timeline, event: number): string {
  const [precision, ns] = [events.precision[event], events.duration[event]];
  if (!precision) return "unknown";
  return precision === LOWER_BOUND && !ns ? "?" : `${SIGNS[precision] ?? "~ "}${time(ns)}`;
}

export function wordsOf(timeline: Timeline, event: number): Words {
  const { events, model } = timeline;
  const lane = timeline.lanes[events.lane[event]];
  const sort = LAYER_SORTS[lane.layer];
  const facts = model.facts[sort];
  const key = events.key[event];
  const name = (column: string) => model.names[facts.column(column)[key]];
  const peer = facts.has("peer") ? facts.column("peer")[key] : 0;
  const how: (string | null)[] = [];
  if (lane.layer > MPI) how.push(name("protocol"));
  if (lane.layer === UCP && name("memory")) how.push(`${name("memory")} memory`);
  if (lane.layer === UCT) how.push(`${name("transport") ?? "unknown"}/${name("device") ?? "unknown"}`);
  if (lane.layer === UCT && (name("src_mem") || name("dst_mem")))
    how.push(`${name("src_mem") ?? "unknown"} → ${name("dst_mem") ?? "unknown"} memory`);
  if (lane.layer === UCT) how.push(["", "control", "copy"][facts.column("kind")[key]] ?? "");
  if (lane.layer > MPI && peer) how.push(`with ${model.labels[peer]}`);
  if (events.count[event] > 1) how.push(`${count(events.count[event])} alike`);
  for (const [bit, words] of FLAGS) if (events.flags[event] & bit) how.push(words);
  const tid = events.thread[event] ? timeline.threads[events.thread[event] - 1] : null;
  if (tid !== null && tid !== model.process(lane.process)?.tgid) how.push(`thread ${tid}`);
  return {
    layer: LAYERS[lane.layer],
    name: name(LAYER_NAMES[lane.layer]) ?? (lane.layer === MPI ? model.outside : "unknown"),
    who: model.longLabel(lane.process),
    start: instant(events.start[event], 10),
    duration: durationOf(timeline, event),
    bytes: events.bytes[event] ? bytes(events.bytes[event] - 1) : "unknown",
    place: lane.layer === MPI ? model.places[facts.column("place")[key]]?.label ?? null : null,
    held: waitWords(timeline, event),
    open: openOf(timeline, event),
    how: how.filter(Boolean).join(", "),
    transport: lane.layer === UCT ? name("transport") : null,
  };
}
