// SPDX-License-Identifier: BSD-3-Clause
// Drawing a lane by the steps of a level: a bar for each, as high as the lane was busy, and as it waited in these.
import { Level, MPI } from "../../data/timeline";
import { styleColour, waitingColour } from "../../ui/colours";
import { mixed, packed, Sheet } from "../../ui/pixels";
import type { PlacedLane } from "./layout";
import { DIM, GUTTER, Scene } from "./scene";

// If several bars share one column of pixels, the tallest stays.
class Bars {
  private until = -1;
  private tall = 0;

  constructor(private sheet: Sheet, private bottom: number) {}

  add(x: number, until: number, tall: number, colour: number) {
    if (!tall || (until <= this.until && tall <= this.tall)) return;
    this.sheet.fill(x, this.bottom - tall, until, this.bottom, colour);
    [this.until, this.tall] = [until, tall];
  }
}

// The sheet begins with the part in sight.
export function drawSteps(sheet: Sheet, scene: Scene, placed: PlacedLane, level: Level, [from, to]: [number, number]) {
  const { look, timeline, colours } = scene;
  const { lane, y, height } = placed;
  const zero = level.zero.get(lane.host) ?? 0;
  const end = timeline.levelEnd(level, lane);
  const { bucket, busy, name, started, waited } = level.columns;
  const scale = (look.width - GUTTER) / (look.to - look.from);
  const width = Math.max(1, level.bucket * scale);
  const first = timeline.levelRow(level, lane, Math.floor((from - zero) / level.bucket));
  const ground = packed(styleColour("gap"));
  const strong = scene.filtered ? DIM : 1;
  const colourOf = colours.ofSteps(lane);
  const red = mixed(ground, packed(waitingColour()), strong);
  const bars = new Bars(sheet, y - look.scroll + height);
  const waits = new Bars(sheet, y - look.scroll + height);
  const tallOf = (i: number) => (busy[i] ? Math.max(2, Math.round(Math.min(1, busy[i] / level.bucket) * height)) : started[i] ? 1 : 0);
  const each = (add: (i: number, x: number, until: number) => void) => {
    for (let i = first; i < end; i++) {
      const start = zero + bucket[i] * level.bucket;
      if (start >= to) break;
      const x = Math.floor((Math.max(start, from) - look.from) * scale);
      add(i, x, Math.max(x + 1, Math.round(Math.min((Math.min(to, start + level.bucket) - look.from) * scale, x + width))));
    }
  };
  each((i, x, until) => bars.add(x, until, tallOf(i), mixed(ground, colourOf(name[i]), strong)));
  if (lane.layer === MPI)
    each((i, x, until) => {
      if (waited[i]) waits.add(x, until, Math.min(tallOf(i), Math.max(1, Math.round(Math.min(1, waited[i] / level.bucket) * height))), red);
    });
}
