// SPDX-License-Identifier: BSD-3-Clause
// Drawing many processes at once: a row of pixels for each, as strong as it was in MPI calls, red as far as it waited in these.
import type { Level } from "../../data/timeline";
import { styleColour, waitingColour } from "../../ui/colours";
import { mixed, packed, Sheet } from "../../ui/pixels";
import type { PlacedLane } from "./layout";
import { DIM, GUTTER, Scene } from "./scene";

export function drawPixels(sheet: Sheet, scene: Scene, { lane, y, height }: PlacedLane, level: Level, [from, to]: [number, number]) {
  const { look, timeline, colours } = scene;
  const scale = (look.width - GUTTER) / (look.to - look.from);
  const ground = packed(styleColour("gap"));
  const red = packed(waitingColour());
  const strong = scene.filtered ? DIM : 1;
  const colourOf = colours.ofSteps(lane);
  const { bucket, busy, waited, name, started } = level.columns;
  const zero = level.zero.get(lane.host) ?? 0;
  const end = timeline.levelEnd(level, lane);
  for (let i = timeline.levelRow(level, lane, Math.floor((from - zero) / level.bucket)); i < end; i++) {
    const start = zero + bucket[i] * level.bucket;
    if (start >= to) break;
    if (!busy[i] && !started[i]) continue;
    const part = Math.min(1, busy[i] / level.bucket);
    const own = mixed(ground, colourOf(name[i]), Math.max(0.25, part) * strong);
    const colour = waited[i] ? mixed(own, red, Math.min(1, waited[i] / busy[i]) * strong) : own;
    const x = Math.max(0, Math.floor((start - look.from) * scale));
    sheet.fill(x, y - look.scroll, Math.max(x + 1, Math.floor((start + level.bucket - look.from) * scale)), y - look.scroll + height, colour);
  }
}
