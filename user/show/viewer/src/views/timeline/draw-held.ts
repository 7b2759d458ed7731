// SPDX-License-Identifier: BSD-3-Clause
// Drawing over MPI calls: their waiting for another process, and hatching over calls that have not returned.
import { waitsWithin } from "../../data/held";
import { MPI, Timeline } from "../../data/timeline";
import { clip, hatch } from "../../ui/canvas";
import { styleColour, waitingColour } from "../../ui/colours";
import type { PlacedLane } from "./layout";
import { DIM, GUTTER, Scene, xOf } from "./scene";

const LOW = 0.35; // height of waiting: the call's own colour stays above it

// Which of the rows side by side a call is drawn in.
function rowOf({ lane, rows }: PlacedLane, call: number): number {
  return rows > 1 && call >= lane.first && call < lane.end ? lane.row[call - lane.first] : 0;
}

export function drawWaits(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, from: number, to: number) {
  const { lane, y, height } = placed;
  if (lane.layer !== MPI) return;
  const { look, timeline: { waits, events } } = scene;
  const fails = scene.fails("calls");
  const tall = height / placed.rows;
  const bar = Math.max(1, tall - (placed.rows > 1 ? 1 : 0));
  const drawn = new Float64Array(placed.rows).fill(-1);
  context.fillStyle = waitingColour();
  for (const at of waitsWithin(waits, lane.process, from, to)) {
    const call = waits.call[at] - 1;
    const row = rowOf(placed, call);
    const stop = Math.min(look.width, xOf(look, Math.min(to, waits.start[at] + waits.duration[at])));
    const start = Math.max(GUTTER, drawn[row], xOf(look, Math.max(from, waits.start[at])));
    if (stop <= start) continue;
    context.globalAlpha = call >= 0 && fails[events.key[call]] ? DIM : 1;
    context.fillRect(start, y + row * tall + bar * (1 - LOW), stop - start, bar * LOW);
    drawn[row] = stop;
  }
  context.globalAlpha = 1;
}

// The event of an open call, where it is kept.
function eventOf(timeline: Timeline, { lane }: PlacedLane, from: number): number {
  const [first, end] = timeline.within(lane, from, from);
  for (let i = first; i < end; i++) if (timeline.events.start[lane.first + i] === from) return lane.first + i;
  return -1;
}

// On ground of its own, so that it can be read over the hatching.
function name(context: CanvasRenderingContext2D, words: string, left: number, right: number, middle: number) {
  context.font = "10px system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  const text = clip(context, words, right - left - 8);
  if (text.length < 4) return;
  context.fillStyle = styleColour("paper");
  context.fillRect(left, middle - 5.5, context.measureText(text).width + 8, 11);
  context.fillStyle = styleColour("ink");
  context.fillText(text, left + 4, middle + 0.5);
}

// Hatched to the time until which its process was seen; thinly where it may have returned.
export function drawOpen(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane) {
  const { lane, y, height } = placed;
  if (lane.layer !== MPI) return;
  const { look, timeline } = scene;
  for (const { open, process, from, to } of timeline.open) {
    if (process !== lane.process || to < look.from || from > look.to) continue;
    const tall = height / placed.rows;
    const top = y + rowOf(placed, eventOf(timeline, placed, from)) * tall;
    const left = Math.max(GUTTER, xOf(look, from));
    const right = Math.min(look.width, Math.max(left + 2, xOf(look, to)));
    context.fillStyle = hatch(context, styleColour("ink"));
    context.globalAlpha = open.certain ? 0.75 : 0.3;
    context.fillRect(left, top, right - left, tall - (placed.rows > 1 ? 1 : 0));
    context.globalAlpha = 1;
    context.fillStyle = styleColour("ink");
    context.fillRect(right - 2, top, 2, tall);
    if (tall >= 11) name(context, `${open.function.replace(/^MPI_/, "")}, ${open.certain ? "" : "perhaps "}not returned`, left + 3, right - 5, top + tall / 2);
  }
}
