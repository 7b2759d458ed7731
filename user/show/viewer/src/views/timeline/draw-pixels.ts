// SPDX-License-Identifier: BSD-3-Clause
// Drawing many processes at once: a row of pixels for each, as strong as it was in MPI calls, red as far as it waited in these.
import type { Level } from "../../data/timeline";
import { styleColour, waitingColour } from "../../ui/colours";
import { packed } from "../../ui/pixels";
import type { Track } from "./layout";
import { GUTTER, Scene } from "./scene";

type Rgb = [number, number, number];

const parts = (colour: number): Rgb => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
const mixed = (a: Rgb, b: Rgb, part: number): Rgb => a.map((from, i) => from + (b[i] - from) * part) as Rgb;

export function drawPixels(context: CanvasRenderingContext2D, scene: Scene, track: Track, level: Level) {
  const { look, timeline, colours } = scene;
  const wide = Math.max(1, Math.floor(look.width - GUTTER));
  const sheet = new OffscreenCanvas(wide, track.lanes.length);
  const paper = sheet.getContext("2d")!;
  const image = paper.createImageData(wide, track.lanes.length);
  const pixels = new Uint32Array(image.data.buffer);
  const ground = packed(styleColour("gap"));
  const [empty, red] = [parts(ground), parts(packed(waitingColour()))];
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
      const own = mixed(empty, parts(packed(colours.ofStep(lane, name[i]))), Math.max(0.25, part));
      const [r, g, b] = busy[i] ? mixed(own, red, Math.min(1, waited[i] / busy[i])) : own;
      const colour = (255 << 24) | (Math.round(b) << 16) | (Math.round(g) << 8) | Math.round(r);
      const from = Math.max(0, Math.floor((start - look.from) * scale));
      const to = Math.min(wide, Math.max(from + 1, Math.floor((start + level.bucket - look.from) * scale)));
      pixels.fill(colour, row * wide + from, row * wide + to);
    }
  }
  paper.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(sheet, GUTTER, track.y, wide, track.lanes.reduce((sum, { height }) => sum + height, 0));
}
