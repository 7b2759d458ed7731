// SPDX-License-Identifier: BSD-3-Clause
// Drawing sums over steps, and over them the events that pass the filters. As pixels: a canvas takes longer for each rectangle.
import { UCT } from "../../data/timeline";
import { styleColour } from "../../ui/colours";
import { packed, Sheet } from "../../ui/pixels";
import { barOf, hasRoom, LOW, Named, passesIn } from "./draw-events";
import { drawPixels } from "./draw-pixels";
import { drawSteps } from "./draw-steps";
import type { PlacedLane } from "./layout";
import { levelFor, Means, partsOf } from "./means";
import { AXIS, GUTTER, Scene, tracksInSight } from "./scene";

const sheet = new Sheet();

function drawPassing(scene: Scene, placed: PlacedLane, [from, to]: [number, number], named: Named[]) {
  const { look, timeline, colours } = scene;
  const { events } = timeline;
  const { lane, rows } = placed;
  const passes = passesIn(scene, lane);
  const colourOf = colours.ofKeysPacked(lane.layer);
  const control = lane.layer >= UCT ? timeline.model.facts.transfers.column("kind") : null;
  const scale = (look.width - GUTTER) / (look.to - look.from);
  const drawn = new Float64Array(rows).fill(Math.max(0, Math.floor((from - look.from) * scale))); // px up to where each row is full
  const right = Math.round((to - look.from) * scale);
  const [first, end] = timeline.within(lane, from, to);
  for (let i = first; i < end; i++) {
    const event = timeline.event(lane, i);
    const row = rows > 1 ? lane.row[i] : 0;
    const start = (events.start[event] - look.from) * scale;
    const stop = Math.min(right, Math.max(Math.floor(start) + 1, Math.round(start + events.duration[event] * scale)));
    if (stop <= drawn[row] || !passes(event)) continue;
    const x = Math.max(drawn[row], Math.floor(start));
    const key = events.key[event];
    const { top, bottom } = barOf(placed, row, control?.[key] ? LOW : 1);
    sheet.fill(x, top - look.scroll, stop - (stop - x > 4 ? 0.5 : 0), bottom - look.scroll, colourOf[key]);
    drawn[row] = stop;
    if (hasRoom(stop - x, bottom - top)) named.push({ lane, event, x: GUTTER + x, right: GUTTER + stop, top, bottom });
  }
}

// Before anything else is drawn. The bars with room for a name.
export function drawSums(context: CanvasRenderingContext2D, scene: Scene, { mode, level, passing }: Means): Named[] {
  const { look, timeline, layout } = scene;
  const tracks = tracksInSight(look, layout).filter((track) => track.pixels || level);
  const named: Named[] = [];
  if (!tracks.length) return named;
  const ground = packed(styleColour("gap"));
  sheet.begin(look.width - GUTTER, look.height - AXIS, context.getTransform().a);
  for (const { pixels, lanes } of tracks) {
    const steps = level ?? levelFor(timeline, look);
    for (const placed of lanes) {
      const top = placed.y - look.scroll;
      if (!steps || top + placed.height < 0 || top > look.height) continue;
      sheet.fill(0, top, look.width, top + placed.height, ground);
      const parts = partsOf(timeline, placed.lane.host, look, pixels ? "levels" : mode).steps;
      for (const part of parts) (pixels ? drawPixels : drawSteps)(sheet, scene, placed, steps, part);
      if (passing) for (const part of parts) drawPassing(scene, placed, part, named);
    }
  }
  sheet.put(context, GUTTER, AXIS);
  return named;
}
