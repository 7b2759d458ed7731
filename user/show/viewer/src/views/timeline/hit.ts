// SPDX-License-Identifier: BSD-3-Clause
// Hit tests on the canvas.
import type { Lane, Level, Timeline } from "../../data/timeline";
import type { Layout, PlacedLane, Track } from "./layout";
import { AXIS, GUTTER, Look, nsOf } from "./scene";

const NEAR = 3; // px around an event that count as on it

// The layout excludes the axis and the scroll offset.
const inLayout = (look: Look, y: number) => y - AXIS + look.scroll;

export function hostAt({ tracks }: Layout, look: Look, y: number): number {
  const below = inLayout(look, y);
  return (tracks.find((t) => t.y + t.height > below) ?? tracks[0])?.host ?? 0;
}

export function laneAt({ tracks }: Layout, look: Look, x: number, y: number): PlacedLane | null {
  if (x <= GUTTER || y <= AXIS) return null;
  const at = inLayout(look, y);
  const track = tracks.find((t) => at >= t.y && at < t.y + t.height);
  const slack = track?.pixels ? 0 : 1;
  return track?.lanes.find((lane) => at >= lane.y - slack && at < lane.y + lane.height + slack) ?? null;
}

// The track whose name is there.
export function nameAt({ tracks }: Layout, look: Look, x: number, y: number): Track | null {
  const at = inLayout(look, y);
  const track = y > AXIS ? tracks.find((t) => at >= t.y && at < t.y + t.height) : undefined;
  return track && (x < GUTTER || track.heading) ? track : null;
}

// The shortest of several.
export function eventAt(timeline: Timeline, placed: PlacedLane, look: Look, x: number, y: number): number | null {
  const { lane } = placed;
  const { start, duration } = timeline.events;
  const slack = (NEAR * (look.to - look.from)) / (look.width - GUTTER);
  const at = nsOf(look, x);
  const [first, end] = timeline.within(lane, at - slack, at + slack);
  const row = Math.min(placed.rows - 1, Math.max(0, Math.floor(((inLayout(look, y) - placed.y) * placed.rows) / placed.height)));
  let best: number | null = null;
  for (let i = first; i < end; i++) {
    const event = timeline.event(lane, i);
    if (Math.min(placed.rows - 1, lane.row[i]) !== row || start[event] + duration[event] < at - slack) continue;
    if (best === null || duration[event] <= duration[best]) best = event;
  }
  return best;
}

// The row of a level.
export function stepAt(timeline: Timeline, level: Level, lane: Lane, look: Look, x: number): number | null {
  const bucket = Math.floor((nsOf(look, x) - (level.zero.get(lane.host) ?? 0)) / level.bucket);
  const row = timeline.levelRow(level, lane, bucket);
  return row < timeline.levelEnd(level, lane) && level.columns.bucket[row] === bucket ? row : null;
}

// How long it is from the end of what ran before to the start of what runs next, where nothing runs.
export function gapAt(timeline: Timeline, lane: Lane, look: Look, x: number): number | null {
  const ns = nsOf(look, x);
  const [, next] = timeline.within(lane, ns, ns);
  if (next === 0 || next === timeline.count(lane)) return null;
  const before = lane.reach[next - 1];
  return before > ns ? null : timeline.events.start[timeline.event(lane, next)] - before;
}
