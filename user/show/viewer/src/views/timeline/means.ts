// SPDX-License-Identifier: BSD-3-Clause
// How a part of the run can be shown: by single events where they are kept and few enough to be distinguished, else by
// the level whose steps are about a pixel wide.
import type { Level, Timeline } from "../../data/timeline";
import type { Layout } from "./layout";
import { GUTTER, Look, tracksInSight } from "./scene";

export interface Means {
  mode: "events" | "levels" | "both";
  level: Level | null;
  passing: boolean; // of steps, those of events that pass the filters stand out
}

const MOST_EVENTS = 60_000; // drawn at once
const MOST_PASSING = 400_000; // looked at, where a filter is in force

function eventsInSight(timeline: Timeline, look: Look, layout: Layout): number {
  let n = 0;
  for (const track of tracksInSight(look, layout))
    for (const { lane } of track.lanes) {
      const [first, end] = timeline.within(lane, look.from, look.to);
      n += end - first;
    }
  return n;
}

export function levelFor({ levels }: Timeline, look: Look): Level | null {
  const pixel = (look.to - look.from) / Math.max(1, look.width - GUTTER);
  let best: Level | null = levels[0] ?? null;
  for (const level of levels) if (level.bucket <= pixel * 1.5) best = level;
  return best;
}

export function meansFor(timeline: Timeline, look: Look, layout: Layout, filtered: boolean): Means {
  const { events } = timeline.model.directory.timeline;
  const all = events.kept === events.of;
  const n = eventsInSight(timeline, look, layout);
  const passing = filtered && all && n <= MOST_PASSING;
  if (layout.pixels) return { mode: "levels", level: levelFor(timeline, look), passing };
  const single = n <= MOST_EVENTS;
  const level = single && all ? null : levelFor(timeline, look);
  return { mode: !level ? "events" : single && events.kept ? "both" : "levels", level, passing };
}

type Part = [number, number]; // ns, from and to

// Times in sight in which every event of a host is kept.
function keptTimes(timeline: Timeline, host: number, look: Look): Part[] {
  const { windows } = timeline.model.directory.timeline.events;
  const begin = timeline.begin(host);
  return windows
    .filter((w) => w.host === host && w.to_ns + begin > look.from && w.from_ns + begin < look.to)
    .map((w): Part => [Math.max(look.from, w.from_ns + begin), Math.min(look.to, w.to_ns + begin)])
    .sort((a, b) => a[0] - b[0]);
}

// The times in sight that are drawn by sums over steps, and by single events.
export function partsOf(timeline: Timeline, host: number, look: Look, mode: Means["mode"]): { steps: Part[]; single: Part[] } {
  const whole: Part = [look.from, look.to];
  if (mode !== "both") return mode === "levels" ? { steps: [whole], single: [] } : { steps: [], single: [whole] };
  const single = keptTimes(timeline, host, look);
  const edges = [look.from, ...single.flat(), look.to];
  const steps = Array.from({ length: edges.length / 2 }, (_, i): Part => [edges[2 * i], edges[2 * i + 1]]);
  return { steps: steps.filter(([from, to]) => to > from), single: single.filter(([from, to]) => to > from) };
}
