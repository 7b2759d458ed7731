// SPDX-License-Identifier: BSD-3-Clause
// Drawing many processes at once: a row of pixels for each, as strong as it was in MPI calls, red as far as it waited in these.
import type { Level } from "../../data/timeline";
import { styleColour, waitingColour } from "../../ui/colours";
import { packed } from "../../ui/pixels";
import type { Track } from "./layout";
import { DIM, GUTTER, Scene } from "./scene";

// Of packed colours, part by part.
function mixed(a: number, b: number, share: number): number {
  let out = 255 << 24;
  for (let at = 0; at < 24; at += 8) {
    const from = (a >> at) & 255;
    out |= Math.round(from + (((b >> at) & 255) - from) * share) << at;
  }
  return out;
}

export function drawPixels(context: CanvasRenderingContext2D, scene: Scene, track: Track, level: Level) {
  const { look, timeline, colours } = scene;
  const wide = Math.max(1, Math.floor(look.width - GUTTER));
  const sheet = new OffscreenCanvas(wide, track.lanes.length);
  const paper = sheet.getContext("2d")!;
  const image = paper.createImageData(wide, track.lanes.length);
  const pixels = new Uint32Array(image.data.buffer);
  const ground = packed(styleColour("gap"));
  const red = packed(waitingColour());
  const strong = scene.filtered ? DIM : 1;
  const known = new Map<string, number>();
  const packedOnce = (colour: string) => {
    let own = known.get(colour);
    if (own === undefined) known.set(colour, (own = packed(colour)));
    return own;
  };
  pixels.fill(ground);
  const scale = wide / (look.to - look.from);
  const { bucket, busy, waited, name, started } = level.columns;
  for (const [row, { lane }] of track.lanes.entries()) {
    const zero = level.zero.get(lane.host) ?? 0;
    const end = timeline.levelEnd(level, lane);
    for (let i = timeline.levelRow(level, lane, Math.floor((look.from - zero) / level.bucket)); i < end; i++) {
      const start = zero + bucket[i] * level.bucket;
      if (start >= look.to) break;
      if (!busy[i] && !started[i]) continue;
      const part = Math.min(1, busy[i] / level.bucket);
      const own = mixed(ground, packedOnce(colours.ofStep(lane, name[i])), Math.max(0.25, part) * strong);
      const colour = waited[i] ? mixed(own, red, Math.min(1, waited[i] / busy[i]) * strong) : own;
      const from = Math.max(0, Math.floor((start - look.from) * scale));
      const to = Math.min(wide, Math.max(from + 1, Math.floor((start + level.bucket - look.from) * scale)));
      pixels.fill(colour, row * wide + from, row * wide + to);
    }
  }
  paper.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet, GUTTER, track.y, wide, track.lanes.reduce((sum, { height }) => sum + height, 0));
}
