// SPDX-License-Identifier: BSD-3-Clause
// Draws the marks over the tracks: times outside the selection, frames around events, and a message's arrow.
import { styleColour } from "../../ui/colours";
import { PlacedLane, placeOf, Track } from "./layout";
import { Arrow, GUTTER, Look, Scene, tracksInSight, Window, xOf } from "./scene";

export function drawOutside(context: CanvasRenderingContext2D, { look, layout, chosen }: Scene) {
  if (!chosen) return;
  for (const track of tracksInSight(look, layout)) if (!track.heading) greyOut(context, look, track, chosen(track.host));
}

function greyOut(context: CanvasRenderingContext2D, look: Look, { y, height }: Track, { from, to }: Window) {
  context.fillStyle = styleColour("paper");
  context.globalAlpha = 0.62;
  const left = Math.min(look.width, Math.max(GUTTER, xOf(look, from)));
  const right = Math.min(look.width, Math.max(GUTTER, xOf(look, to)));
  context.fillRect(GUTTER, y, left - GUTTER, height - 1);
  context.fillRect(right, y, look.width - right, height - 1);
  context.globalAlpha = 1;
  context.fillStyle = styleColour("accent");
  if (left > GUTTER) context.fillRect(left - 1, y, 1, height);
  if (right < look.width) context.fillRect(right, y, 1, height);
}

// A frame around its track; beside a row of pixels, which has no room for one, a bar.
export function drawMarked(context: CanvasRenderingContext2D, { look, layout, marked }: Scene) {
  const at = marked === null ? null : placeOf(layout, marked);
  if (!at) return;
  context.fillStyle = context.strokeStyle = styleColour("accent");
  context.lineWidth = 2;
  if (at.height > 10) context.strokeRect(1, at.y + 1, look.width - 2, at.height - 3);
  else context.fillRect(GUTTER - 10, at.y - 1, 10, at.height + 2);
}

// Each event in its own lane, and in that of its device.
export function drawOutlines(context: CanvasRenderingContext2D, scene: Scene) {
  const tracks = tracksInSight(scene.look, scene.layout);
  for (const event of scene.chain)
    for (const track of tracks)
      for (const placed of track.lanes) {
        const position = scene.timeline.positionIn(placed.lane, event);
        if (position >= 0) outline(context, scene, placed, event, position);
      }
}

function outline(context: CanvasRenderingContext2D, { look, timeline }: Scene, placed: PlacedLane, event: number, position: number) {
  const { events } = timeline;
  const { lane, y, height } = placed;
  const tall = height / placed.rows;
  const x = xOf(look, events.start[event]);
  const width = Math.max(2, xOf(look, events.start[event] + events.duration[event]) - x);
  if (x + width < GUTTER || x > look.width) return;
  const left = Math.max(GUTTER - 2, x - 1);
  context.strokeStyle = styleColour("select");
  context.lineWidth = 1.5;
  context.strokeRect(left, y + Math.min(placed.rows - 1, lane.row[position]) * tall - 1, x + width + 1 - left, tall + 1);
}

function middle({ layout, timeline }: Scene, event: number): number | null {
  const placed = layout.byLane.get(timeline.events.lane[event]);
  if (!placed) return null;
  const tall = placed.height / placed.rows;
  return placed.y + (Math.min(placed.rows - 1, placed.lane.row[event - placed.lane.first]) + 0.5) * tall;
}

export function drawArrows(context: CanvasRenderingContext2D, scene: Scene) {
  for (const arrow of scene.arrows) drawArrow(context, scene, arrow, true);
  if (scene.arrow) drawArrow(context, scene, scene.arrow, false);
}

// From the operation that sent to the one that received; dashed between clocks that are not compared.
function drawArrow(context: CanvasRenderingContext2D, scene: Scene, { send, recv, arrival }: Arrow, thin: boolean) {
  const { look, timeline: { events, lanes, fitted } } = scene;
  const [y1, y2] = [middle(scene, send), middle(scene, recv)];
  if (y1 === null || y2 === null) return;
  const x1 = xOf(look, events.start[send]);
  const x2 = xOf(look, arrival ?? events.start[recv] + events.duration[recv]);
  context.save();
  context.beginPath();
  context.rect(GUTTER, look.scroll, look.width - GUTTER, look.height);
  context.clip();
  context.strokeStyle = context.fillStyle = styleColour("select");
  context.lineWidth = thin ? 0.8 : 1.6;
  context.globalAlpha = thin ? 0.7 : 1;
  if (!fitted && lanes[events.lane[send]].host !== lanes[events.lane[recv]].host) context.setLineDash([5, 3]);
  traceArrow(context, x1, y1, x2, y2, thin ? 0.5 : 1);
  context.restore();
}

function traceArrow(context: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number, size: number) {
  const bend = Math.max(24, Math.abs(x2 - x1) / 3);
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 8 * size, y2 - 4 * size);
  context.lineTo(x2 - 8 * size, y2 + 4 * size);
  context.fill();
  context.beginPath();
  context.arc(x1, y1, 2.5 * size, 0, 7);
  context.fill();
}
