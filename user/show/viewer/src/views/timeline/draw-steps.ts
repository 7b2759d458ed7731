// SPDX-License-Identifier: BSD-3-Clause
// Drawing a lane by the steps of a level: a bar for each, as high as the lane was busy, and as it waited in these.
import type { Level } from "../../data/timeline";
import { waitingColour } from "../../ui/colours";
import type { PlacedLane } from "./layout";
import { GUTTER, Scene, xOf } from "./scene";

export function drawSteps(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, level: Level, from: number, to: number) {
  const { look, timeline, colours } = scene;
  const { lane, y, height } = placed;
  const zero = level.zero.get(lane.host) ?? 0;
  const end = timeline.levelEnd(level, lane);
  const { bucket, busy, name, started, waited } = level.columns;
  const width = Math.max(1, (level.bucket / (look.to - look.from)) * (look.width - GUTTER));
  const first = timeline.levelRow(level, lane, Math.floor((from - zero) / level.bucket));
  const strokes = new Strokes(context, y, height);
  const waits = new Strokes(context, y, height);
  for (let i = first; i < end; i++) {
    const start = zero + bucket[i] * level.bucket;
    if (start >= to) break;
    const x = Math.floor(Math.max(GUTTER, xOf(look, Math.max(start, from))));
    const until = Math.max(x + 1, Math.round(Math.min(xOf(look, Math.min(to, start + level.bucket)), x + width)));
    const part = Math.min(1, busy[i] / level.bucket);
    const tall = busy[i] ? Math.max(2, Math.round(part * height)) : started[i] ? 1 : 0;
    strokes.add(x, until, tall, colours.ofStep(lane, name[i]));
    const red = waited[i] ? Math.max(1, Math.round(Math.min(1, waited[i] / level.bucket) * height)) : 0;
    if (red) waits.add(x, until, Math.min(tall, red), waitingColour());
  }
  strokes.flush();
  waits.flush();
}

// Bars side by side become one where they are alike; of several in one column of pixels the tallest is drawn.
class Strokes {
  private x = 0;
  private until = -1;
  private tall = 0;
  private colour = "";

  constructor(private context: CanvasRenderingContext2D, private y: number, private height: number) {}

  add(x: number, until: number, tall: number, colour: string) {
    if (until <= this.until && tall <= this.tall) return;
    if (x <= this.until && tall === this.tall && colour === this.colour) {
      this.until = Math.max(until, this.until);
      return;
    }
    this.flush();
    [this.x, this.until, this.tall, this.colour] = [x, until, tall, colour];
  }

  flush() {
    if (this.until <= this.x || !this.tall) return;
    this.context.fillStyle = this.colour;
    this.context.fillRect(this.x, this.y + this.height - this.tall, this.until - this.x, this.tall);
  }
}
