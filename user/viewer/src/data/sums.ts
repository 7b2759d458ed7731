// SPDX-License-Identifier: BSD-3-Clause
import type { Rows } from "./cut";

// Sums of rows by `of` of their keys.
export function addUp(rows: Rows, of: Uint32Array, length: number, values: Float64Array, bits: boolean): Float64Array {
  const out = new Float64Array(length);
  const { key, at } = rows;
  if (bits) for (let i = 0; i < key.length; i++) out[of[key[i]]] |= values[at[i]];
  else for (let i = 0; i < key.length; i++) out[of[key[i]]] += values[at[i]];
  return out;
}

// Those of 0 until a length that some key is of, in the order in which they are met.
export function met(key: Uint32Array, of: Uint32Array, length: number): Uint32Array {
  const seen = new Uint8Array(length);
  const out = new Uint32Array(length);
  let n = 0;
  for (let i = 0; i < key.length; i++) {
    const at = of[key[i]];
    if (seen[at]) continue;
    seen[at] = 1;
    out[n++] = at;
  }
  return out.subarray(0, n);
}
