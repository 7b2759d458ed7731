// SPDX-License-Identifier: BSD-3-Clause
// Drawing the timeline: the tracks, each lane by the means that fit the part of the run in sight, and the marks over them.
import { styleColour } from "../../ui/colours";
import { drawEvents, drawName } from "./draw-events";
import { drawOpen, drawWaits } from "./draw-held";
import { drawArrows, drawMarked, drawOutlines, drawOutside } from "./draw-marks";
import { drawSums } from "./draw-sums";
import { drawAxis, drawHeading, drawNames } from "./draw-words";
import type { PlacedLane, Track } from "./layout";
import { Means, partsOf } from "./means";
import { AXIS, GUTTER, Look, Scene, tracksInSight } from "./scene";

// They stay while another time is chosen, or another event.
export function drawTracks(context: CanvasRenderingContext2D, scene: Scene, means: Means) {
  const { look, layout } = scene;
  const named = drawSums(context, scene, means);
  within(context, look, () => {
    for (const one of named) drawName(context, scene, one);
    for (const track of tracksInSight(look, layout))
      if (track.heading) drawHeading(context, look, track);
      else drawTrack(context, scene, track, means);
  });
  drawAxis(context, look);
}

export function drawMarks(context: CanvasRenderingContext2D, scene: Scene) {
  within(context, scene.look, () => {
    drawOutside(context, scene);
    drawMarked(context, scene);
    drawOutlines(context, scene);
    drawArrows(context, scene);
  });
}

// Below the axis, in coordinates of the layout.
function within(context: CanvasRenderingContext2D, look: Look, draw: () => void) {
  context.save();
  context.beginPath();
  context.rect(0, AXIS, look.width, look.height - AXIS);
  context.clip();
  context.translate(0, AXIS - look.scroll);
  draw();
  context.restore();
}

function drawTrack(context: CanvasRenderingContext2D, scene: Scene, track: Track, means: Means) {
  const { look } = scene;
  context.fillStyle = styleColour("line");
  context.fillRect(0, track.y + track.height - 1, look.width, 1);
  for (const placed of track.lanes) {
    if (!track.pixels) drawLane(context, scene, placed, means);
    drawOpen(context, scene, placed);
  }
  drawNames(context, track);
}

// Single events and waits, which lie over the sums over steps.
function drawLane(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, { mode, level }: Means) {
  const { look, timeline } = scene;
  context.fillStyle = styleColour("gap");
  if (!level) context.fillRect(GUTTER, placed.y, look.width - GUTTER, placed.height);
  for (const [from, to] of partsOf(timeline, placed.lane.host, look, mode).single) {
    drawEvents(context, scene, placed, from, to);
    drawWaits(context, scene, placed, from, to);
  }
}
