// SPDX-License-Identifier: BSD-3-Clause

// Sums of some rows (at) by place.
export function addUp(at: Uint32Array, places: Uint32Array, length: number, values: Float64Array, bits: boolean): Float64Array {
  const out = new Float64Array(length);
  if (bits) for (let i = 0; i < at.length; i++) out[places[at[i]]] |= values[at[i]];
  else for (let i = 0; i < at.length; i++) out[places[at[i]]] += values[at[i]];
  return out;
}

export interface Both {
  sums: [Float64Array, Float64Array];
  met: Uint32Array; // places that some row is of, in the order in which they are met
}

// Two sums at once: rows are read once.
export function addBoth(at: Uint32Array, places: Uint32Array, length: number, a: Float64Array, b: Float64Array): Both {
  const sums: Both["sums"] = [new Float64Array(length), new Float64Array(length)];
  const [first, second] = sums;
  const seen = new Uint8Array(length);
  const out = new Uint32Array(Math.min(length, at.length));
  let n = 0;
  for (let i = 0; i < at.length; i++) {
    const row = at[i];
    const place = places[row];
    first[place] += a[row];
    second[place] += b[row];
    if (seen[place]) continue;
    seen[place] = 1;
    out[n++] = place;
  }
  return { sums, met: out.subarray(0, n) };
}

// The places in `found`, then the others that some row is of, in the order in which they are met.
export function met(found: Uint32Array, at: Uint32Array, places: Uint32Array, length: number): Uint32Array {
  const seen = new Uint8Array(length);
  const out = new Uint32Array(Math.min(length, found.length + at.length));
  out.set(found);
  for (let i = 0; i < found.length; i++) seen[found[i]] = 1;
  let n = found.length;
  for (let i = 0; i < at.length; i++) {
    const place = places[at[i]];
    if (seen[place]) continue;
    seen[place] = 1;
    out[n++] = place;
  }
  return out.subarray(0, n);
}

// Rows by place: those of a place are rows[start[place]] to rows[start[place + 1]].
export interface Index {
  start: Uint32Array;
  rows: Uint32Array;
}

export function indexOf(places: Uint32Array, length: number): Index {
  const start = new Uint32Array(length + 1);
  for (let i = 0; i < places.length; i++) start[places[i] + 1]++;
  for (let i = 0; i < length; i++) start[i + 1] += start[i];
  const next = start.slice();
  const rows = new Uint32Array(places.length);
  for (let i = 0; i < places.length; i++) rows[next[places[i]]++] = i;
  return { start, rows };
}

// Whether a number is in an ascending list.
export function isIn(list: Uint32Array, wanted: number): boolean {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return list[low] === wanted;
}
