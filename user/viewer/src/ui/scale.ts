// SPDX-License-Identifier: BSD-3-Clause
// Amounts to shades of one colour, from the ground of the page to what stands out from it.
import { dark } from "./colours";

type Rgb = [number, number, number];

const LIGHT: Rgb[] = [[226, 236, 249], [156, 195, 234], [63, 132, 204], [18, 63, 133], [6, 24, 66]];
const DARK: Rgb[] = [[27, 43, 66], [31, 74, 128], [58, 128, 201], [134, 186, 240], [230, 243, 255]];

export interface Scale {
  log: boolean;
  low: number; // what the least shade stands for: the least amount that is not 0, or less
  high: number;
}

const DECADE = 10; // that shades span at least: amounts that hardly differ look alike

export function scaleOf(values: Float64Array, log: boolean): Scale {
  let [low, high] = [Infinity, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!(value > 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { log, low: high ? Math.min(low, high / DECADE) : 0, high };
}

// Which of so many shades each value has, from 1; 0: none.
export function shadesOf(values: Float64Array, scale: Scale, shades: number): Uint8Array {
  const out = new Uint8Array(values.length);
  const { log, low, high } = scale;
  const most = shades - 1;
  const factor = log ? most / Math.log(high / low) : most / high;
  for (let i = 0; i < values.length; i++)
    if (values[i] > 0) out[i] = 1 + Math.round(factor * (log ? Math.log(values[i] / low) : values[i]));
  return out;
}

export function shade(at: number): Rgb {
  const stops = dark.value ? DARK : LIGHT;
  const place = Math.min(1, Math.max(0, at)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(place));
  const part = place - low;
  return stops[low].map((from, i) => Math.round(from + (stops[low + 1][i] - from) * part)) as Rgb;
}

export function shadeText(at: number): string {
  return `rgb(${shade(at).join(" ")})`;
}
