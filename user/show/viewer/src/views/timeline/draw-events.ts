// SPDX-License-Identifier: BSD-3-Clause
// Drawing a lane by its single events: a bar for each as long as it took, with its name where there is room.
import { Lane, LAYER_NAMES, LAYER_SORTS, MPI, UCT } from "../../data/timeline";
import { clip } from "../../ui/canvas";
import { inkOn } from "../../ui/colours";
import type { PlacedLane } from "./layout";
import { DIM, GUTTER, Scene, xOf } from "./scene";

const ABOVE = 0.34; // where an MPI call has its name: waiting is below
export const LOW = 0.45; // height of control and copies

// A bar with room for a name.
export interface Named {
  lane: Lane;
  event: number;
  x: number; // px of the layout
  right: number;
  top: number;
  bottom: number;
}

export const hasRoom = (width: number, height: number) => width > 36 && height >= 11;

// Where the bar of a row side by side lies; high: of 1.
export function barOf({ y, height, rows }: PlacedLane, row: number, high: number): { top: number; bottom: number } {
  const tall = height / rows;
  const bar = Math.max(1, tall - (rows > 1 ? 1 : 0));
  const bottom = y + row * tall + bar;
  return { top: bottom - bar * high, bottom };
}

// Whether an event of a lane passes the filters.
export function passesIn({ fails: failing, sizes, timeline: { events } }: Scene, { layer }: Lane): (event: number) => boolean {
  const fails = failing(LAYER_SORTS[layer]);
  return (event) => !fails[events.key[event]] && (!sizes.size || sizes.has(sizeOf(events.bytes[event])));
}

export function drawEvents(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, from: number, to: number) {
  const { look, timeline } = scene;
  const { events } = timeline;
  const { lane, rows } = placed;
  const colours = scene.colours.ofKeys(lane.layer);
  const passing = passesIn(scene, lane);
  const control = lane.layer >= UCT ? timeline.model.facts.transfers.column("kind") : null;
  const [first, end] = timeline.within(lane, from, to);
  const drawn = new Float64Array(rows).fill(-1); // px up to where each row is full
  const dimmed = drawn.slice(); // likewise of what does not pass: it would add up
  const scale = (look.width - GUTTER) / (look.to - look.from);
  const [left, right] = [xOf(look, from), xOf(look, to)];
  for (let i = first; i < end; i++) {
    const event = timeline.event(lane, i);
    const start = GUTTER + (events.start[event] - look.from) * scale;
    const stop = start + Math.max(1, events.duration[event] * scale);
    const row = rows > 1 ? lane.row[i] : 0;
    if (stop <= drawn[row] || stop < left) continue;
    const passes = passing(event);
    if (!passes && stop <= dimmed[row]) continue;
    const x = Math.max(left, start, passes ? drawn[row] : dimmed[row]);
    const key = events.key[event];
    const low = control?.[key] ? LOW : 1;
    const { top, bottom } = barOf(placed, row, low);
    context.globalAlpha = passes ? 1 : DIM;
    context.fillStyle = colours[key];
    context.fillRect(x, top, Math.min(right, stop) - x - (stop - start > 4 ? 0.5 : 0), bottom - top);
    (passes ? drawn : dimmed)[row] = Math.ceil(stop * 2) / 2;
    if (low === 1 && hasRoom(stop - x, bottom - top)) drawName(context, scene, { lane, event, x, right: Math.min(right, stop), top, bottom });
  }
  context.globalAlpha = 1;
}

// Class of a payload as the cube has it; the column is bytes + 1, 0 unknown.
function sizeOf(stored: number): number {
  if (stored <= 1) return stored;
  return Math.floor(Math.log2(stored - 1)) + 2;
}

export function drawName(context: CanvasRenderingContext2D, { timeline: { model, events }, colours }: Scene, { lane, event, x, right, top, bottom }: Named) {
  const key = events.key[event];
  const code = model.facts[LAYER_SORTS[lane.layer]].column(LAYER_NAMES[lane.layer])[key];
  context.font = "10px system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  const text = clip(context, (model.names[code] ?? "").replace(/^MPI_/, ""), Math.min(right, 1e5) - x - 8);
  if (text.length < 3) return;
  context.fillStyle = inkOn(colours.ofKeys(lane.layer)[key]);
  context.fillText(text, x + 4, top + (bottom - top) * (lane.layer === MPI ? ABOVE : 0.5) + 0.5);
}
