// SPDX-License-Identifier: BSD-3-Clause
// The strip's bars, each layer upon those below it, and its two axes.
import { styleColour } from "./colours";
import { Paper, packed } from "./pixels";
import { fit } from "./canvas";

export interface Layer {
  name: string;
  colour: string;
  values: Float64Array; // by bucket
}

export interface Ticks {
  x: { at: number; text: string }[]; // in buckets
  top: string; // what the tallest bar stands for
}

export const LEFT = 62; // px beside the bars
export const BELOW = 20;
const ABOVE = 4;
const paper = new Paper();

export function tallest(layers: Layer[], buckets: number): number {
  let most = 0;
  for (let i = 0; i < buckets; i++) {
    let sum = 0;
    for (const { values } of layers) sum += values[i];
    if (sum > most) most = sum;
  }
  return most;
}

// A column of pixels may stand for several buckets: the one with most is drawn.
function bars(context: CanvasRenderingContext2D, layers: Layer[], buckets: number, width: number, height: number, ratio: number) {
  const [across, high] = [Math.round((width - LEFT) * ratio), Math.round((height - BELOW - ABOVE) * ratio)];
  const picture = paper.of(across, high);
  const { pixels } = paper;
  pixels.fill(packed(styleColour("paper")));
  const colours = layers.map(({ colour }) => packed(colour));
  const scale = high / Math.max(1, tallest(layers, buckets));
  for (let x = 0; x < across; x++) {
    const end = Math.max(Math.floor((x * buckets) / across) + 1, Math.floor(((x + 1) * buckets) / across));
    let [best, most] = [0, -1];
    for (let i = Math.floor((x * buckets) / across); i < end; i++) {
      let sum = 0;
      for (const { values } of layers) sum += values[i];
      if (sum > most) [best, most] = [i, sum];
    }
    let sum = 0;
    let from = high;
    for (const [i, { values }] of layers.entries()) {
      sum += values[best];
      const to = sum ? Math.min(high - 1, high - Math.round(sum * scale)) : high;
      for (let y = to; y < from; y++) pixels[y * across + x] = colours[i];
      from = Math.min(from, to);
    }
  }
  context.putImageData(picture, Math.round(LEFT * ratio), Math.round(ABOVE * ratio));
}

export function drawStrip(canvas: HTMLCanvasElement, width: number, height: number, layers: Layer[], buckets: number, ticks: Ticks) {
  const ratio = devicePixelRatio || 1;
  const context = fit(canvas, width, height);
  bars(context, layers, buckets, width, height, ratio);
  const x = (at: number) => LEFT + (at / buckets) * (width - LEFT);
  context.fillStyle = styleColour("line");
  context.fillRect(LEFT, height - BELOW, width - LEFT, 1);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "center";
  for (const { at, text } of ticks.x) {
    context.fillStyle = styleColour("line");
    context.fillRect(Math.round(x(at)), ABOVE, 1, height - BELOW - ABOVE + 4);
    context.fillStyle = styleColour("soft");
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(width - half, x(at)), height - BELOW / 2 + 2);
  }
  context.textAlign = "right";
  context.fillText(ticks.top, LEFT - 6, ABOVE + 6);
  context.fillText("0", LEFT - 6, height - BELOW);
}
