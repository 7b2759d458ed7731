// SPDX-License-Identifier: BSD-3-Clause
// Drawing the timeline: the tracks, each lane by the means that fit the part of the run in sight, and the marks over them.
import { styleColour } from "../../ui/colours";
import { drawEvents } from "./draw-events";
import { drawOpen, drawWaits } from "./draw-held";
import { drawArrows, drawOutlines, drawOutside } from "./draw-marks";
import { drawPixels } from "./draw-pixels";
import { drawSteps } from "./draw-steps";
import { drawAxis, drawHeading, drawNames } from "./draw-words";
import type { PlacedLane, Track } from "./layout";
import { keptTimes, levelFor, Means } from "./means";
import { AXIS, DIM, GUTTER, Look, Scene, tracksInSight } from "./scene";

// They stay while another time is chosen, or another event.
export function drawTracks(context: CanvasRenderingContext2D, scene: Scene, means: Means) {
  const { look, layout } = scene;
  within(context, look, () => {
    for (const track of tracksInSight(look, layout))
      if (track.heading) drawHeading(context, look, track);
      else drawTrack(context, scene, track, means);
  });
  drawAxis(context, look);
}

export function drawMarks(context: CanvasRenderingContext2D, scene: Scene) {
  within(context, scene.look, () => {
    drawOutside(context, scene);
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
  const level = track.pixels ? means.level ?? levelFor(scene.timeline, look) : null;
  if (level) drawPixels(context, scene, track, level);
  for (const placed of track.lanes)
    if (!track.pixels) drawLane(context, scene, placed, means);
    else {
      if (means.passing) drawEvents(context, scene, placed, look.from, look.to, true);
      drawOpen(context, scene, placed);
    }
  drawNames(context, track);
}

function drawLane(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, { mode, level, passing }: Means) {
  const { look, timeline } = scene;
  context.fillStyle = styleColour("gap");
  context.fillRect(GUTTER, placed.y, look.width - GUTTER, placed.height);
  const single = (from: number, to: number) => {
    drawEvents(context, scene, placed, from, to);
    drawWaits(context, scene, placed, from, to);
  };
  const steps = (from: number, to: number) => {
    context.globalAlpha = scene.filtered ? DIM : 1;
    drawSteps(context, scene, placed, level!, from, to);
    context.globalAlpha = 1;
    if (passing) drawEvents(context, scene, placed, from, to, true);
  };
  let at = look.from;
  if (!level) single(look.from, look.to);
  else {
    for (const [from, to] of mode === "both" ? keptTimes(timeline, placed.lane.host, look) : []) {
      if (from > at) steps(at, from);
      if (to > from) single(from, to);
      at = Math.max(at, to);
    }
    if (look.to > at) steps(at, look.to);
  }
  drawOpen(context, scene, placed);
}
