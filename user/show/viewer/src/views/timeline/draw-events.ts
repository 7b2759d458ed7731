// SPDX-License-Identifier: BSD-3-Clause
// Drawing a lane by its single events: a bar for each as long as it took, with its name where there is room.
import { Lane, LAYER_NAMES, LAYER_SORTS, MPI, Timeline, UCT } from "../../data/timeline";
import { clip } from "../../ui/canvas";
import { inkOn } from "../../ui/colours";
import type { PlacedLane } from "./layout";
import { DIM, GUTTER, Scene, xOf } from "./scene";

const ABOVE = 0.34; // where an MPI call has its name: waiting is below
const LOW = 0.45; // height of control and copies

// passing: of those that pass the filters alone.
export function drawEvents(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, from: number, to: number, passing = false) {
  const { look, sizes, timeline } = scene;
  const { events } = timeline;
  const { lane, y, height } = placed;
  const colours = scene.colours.ofKeys(lane.layer);
  const fails = scene.fails(LAYER_SORTS[lane.layer]);
  const control = lane.layer >= UCT ? timeline.model.facts.transfers.column("kind") : null;
  const [first, end] = timeline.within(lane, from, to);
  const tall = height / placed.rows;
  const bar = Math.max(1, tall - (placed.rows > 1 ? 1 : 0));
  const drawn = new Float64Array(placed.rows).fill(-1); // px up to where each row is full
  const dimmed = drawn.slice(); // likewise of what does not pass: it would add up
  const scale = (look.width - GUTTER) / (look.to - look.from);
  const [left, right] = [xOf(look, from), xOf(look, to)];
  for (let i = first; i < end; i++) {
    const event = timeline.event(lane, i);
    const start = GUTTER + (events.start[event] - look.from) * scale;
    const stop = start + Math.max(1, events.duration[event] * scale);
    const row = placed.rows > 1 ? lane.row[i] : 0;
    if (stop <= drawn[row] || stop < left) continue;
    const passes = !fails[events.key[event]] && (!sizes.size || sizes.has(sizeOf(events.bytes[event])));
    if (!passes && (passing || stop <= dimmed[row])) continue;
    const x = Math.max(left, start, passes ? drawn[row] : dimmed[row]);
    const low = control?.[events.key[event]] ? LOW : 1;
    context.globalAlpha = passes ? 1 : DIM;
    context.fillStyle = colours[events.key[event]];
    context.fillRect(x, y + row * tall + bar * (1 - low), Math.min(right, stop) - x - (stop - start > 4 ? 0.5 : 0), bar * low);
    (passes ? drawn : dimmed)[row] = Math.ceil(stop * 2) / 2;
    if (bar >= 11 && low === 1 && stop - x > 36) label(context, timeline, lane, event, x, Math.min(right, stop), y + row * tall + bar * (lane.layer === MPI ? ABOVE : 0.5));
  }
  context.globalAlpha = 1;
}

// Class of a payload as the cube has it; the column is bytes + 1, 0 unknown.
function sizeOf(stored: number): number {
  if (stored <= 1) return stored;
  return Math.floor(Math.log2(stored - 1)) + 2;
}

function label(context: CanvasRenderingContext2D, { model, events }: Timeline, lane: Lane, event: number, x: number, end: number, y: number) {
  const code = model.facts[LAYER_SORTS[lane.layer]].column(LAYER_NAMES[lane.layer])[events.key[event]];
  context.font = "10px system-ui, sans-serif";
  context.textAlign = "left";
  context.textBaseline = "middle";
  const text = clip(context, (model.names[code] ?? "").replace(/^MPI_/, ""), Math.min(end, 1e5) - x - 8);
  if (text.length < 3) return;
  context.fillStyle = inkOn(context.fillStyle as string); // the bar's
  context.fillText(text, x + 4, y + 0.5);
}
