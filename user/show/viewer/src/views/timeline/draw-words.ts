// SPDX-License-Identifier: BSD-3-Clause
// Drawing the words around the lanes: names of hosts over their tracks, of tracks beside them, and times above all.
import { clip } from "../../ui/canvas";
import { styleColour } from "../../ui/colours";
import { instant, roundStep } from "../../ui/format";
import type { Track } from "./layout";
import { AXIS, GUTTER, Look, xOf } from "./scene";

const LABELLED = 12; // px; lower lanes have no name

export function drawHeading(context: CanvasRenderingContext2D, look: Look, track: Track) {
  context.fillStyle = styleColour("ground");
  context.fillRect(0, track.y, look.width, track.height - 1);
  context.fillStyle = styleColour("line");
  context.fillRect(0, track.y + track.height - 1, look.width, 1);
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = styleColour("ink");
  context.font = "650 12px system-ui, sans-serif";
  const sign = track.folded === null ? "" : track.folded ? "▸ " : "▾ ";
  const name = clip(context, sign + track.title, look.width / 2);
  context.fillText(name, 10, track.y + track.height / 2);
  const at = 22 + context.measureText(name).width;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = styleColour("faint");
  context.fillText(track.detail, at, track.y + track.height / 2);
}

export function drawNames(context: CanvasRenderingContext2D, track: Track) {
  const low = track.height < 40;
  context.clearRect(0, track.y, GUTTER, track.height - 1);
  if (track.height < 11) return;
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = styleColour("ink");
  context.font = "600 12px system-ui, sans-serif";
  const room = GUTTER - 56;
  const middle = track.y + (track.height - 1) / 2;
  const title = clip(context, track.title, room);
  if (track.folded !== null && !low) context.fillText(track.folded ? "▸" : "▾", 0.5, middle - 8);
  context.fillText(title, 10, low ? middle : middle - 8);
  const used = context.measureText(title).width;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = styleColour("faint");
  const end = GUTTER - (track.lanes.some(({ label, height }) => label && height >= LABELLED) ? 36 : 0);
  if (low && end - used > 52) context.fillText(clip(context, track.detail, end - 18 - used), 18 + used, middle);
  if (!low) context.fillText(clip(context, track.detail, room), 10, middle + 8);
  context.textAlign = "right";
  context.font = "10px system-ui, sans-serif";
  for (const lane of track.lanes) if (lane.height >= LABELLED) context.fillText(lane.label, GUTTER - 8, lane.y + lane.height / 2 + 0.5);
}

export function drawAxis(context: CanvasRenderingContext2D, look: Look) {
  const span = look.to - look.from;
  const step = roundStep((span / (look.width - GUTTER)) * 110);
  context.fillStyle = styleColour("paper");
  context.fillRect(0, 0, look.width, AXIS);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let at = Math.ceil(look.from / step) * step; at <= look.to; at += step) {
    const x = Math.round(xOf(look, at));
    context.fillStyle = styleColour("line-strong");
    context.fillRect(x, AXIS - 6, 1, 6);
    context.globalAlpha = 0.35;
    context.fillStyle = styleColour("line-strong");
    context.fillRect(x, AXIS, 1, look.height - AXIS);
    context.globalAlpha = 1;
    context.fillStyle = styleColour("soft");
    const words = instant(at, step);
    if (x + 4 + context.measureText(words).width <= look.width) context.fillText(words, x + 4, AXIS / 2 - 1);
  }
  context.fillStyle = styleColour("line-strong");
  context.fillRect(0, AXIS - 1, look.width, 1);
}
