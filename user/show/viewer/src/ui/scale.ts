// SPDX-License-Identifier: BSD-3-Clause
// Maps amounts to shades of one colour, from the background of the page to full contrast.
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

// The scale of the values at some positions.
export function scaleOf(values: Float64Array, at: Uint32Array, log: boolean): Scale {
  let [low, high] = [Infinity, 0];
  for (let i = 0; i < at.length; i++) {
    const value = values[at[i]];
    if (!(value > 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { log, low: high ? Math.min(low, high / DECADE) : 0, high };
}

// The upper half of a 32-bit float: its exponent and 7 bits after the leading one, which tells values apart that differ by 1 %.
const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

function coarse(value: number): number {
  float[0] = value;
  return bits[0] >>> 16;
}

function middle(of: number): number {
  bits[0] = (of << 16) | 0x8000;
  return float[0];
}

// Shades by coarse value: there are fewer of these than there are values, and a logarithm takes its time.
function logarithms({ low, high }: Scale, most: number): Uint8Array {
  const [first, last] = [coarse(low), coarse(high)];
  const out = new Uint8Array(last + 1);
  const factor = most / Math.log(high / low);
  for (let at = first; at <= last; at++) out[at] = 1 + Math.min(most, Math.max(0, Math.round(factor * Math.log(middle(at) / low))));
  return out;
}

// Which of so many shades the value at each of some places has, from 1; 0: none.
export function shadesOf(values: Float64Array, at: Uint32Array, scale: Scale, shades: number): Uint8Array {
  const out = new Uint8Array(values.length);
  const { log, high } = scale;
  const most = shades - 1;
  const table = log && high ? logarithms(scale, most) : null;
  for (let i = 0; i < at.length; i++) {
    const value = values[at[i]];
    if (value > 0) out[at[i]] = table ? table[coarse(value)] : 1 + Math.round((most * value) / high);
  }
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
