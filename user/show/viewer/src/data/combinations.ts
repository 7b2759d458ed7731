// SPDX-License-Identifier: BSD-3-Clause
// Which combinations of codes some columns have, numbered once: no filter changes them.

export interface Combinations {
  of: Uint32Array; // by key
  length: number;
  codes: Uint32Array[]; // of each column, by combination
}

const DENSE = 1 << 22;

// Numbers ids in the order in which they are met.
export function numbered(ids: Float64Array, below: number): { of: Uint32Array; length: number } {
  const of = new Uint32Array(ids.length);
  const dense = below <= DENSE ? new Uint32Array(below) : null;
  const sparse = new Map<number, number>();
  let length = 0;
  for (let i = 0; i < ids.length; i++) {
    let at = dense ? dense[ids[i]] : sparse.get(ids[i]);
    if (!at) {
      at = ++length;
      if (dense) dense[ids[i]] = at;
      else sparse.set(ids[i], at);
    }
    of[i] = at - 1;
  }
  return { of, length };
}

// A column after the other, so that an id is never more than a number can hold.
function combine(columns: Uint32Array[]): Combinations {
  const keys = columns[0].length;
  const ids = new Float64Array(keys);
  let found: ReturnType<typeof numbered> = { of: new Uint32Array(keys), length: Math.min(1, keys) };
  for (const column of columns) {
    let width = 1;
    for (let i = 0; i < keys; i++) if (column[i] >= width) width = column[i] + 1;
    if (width === 1) continue;
    for (let i = 0; i < keys; i++) ids[i] = found.of[i] * width + column[i];
    found = numbered(ids, found.length * width);
  }
  const { of, length } = found;
  const codes = columns.map((column) => {
    const out = new Uint32Array(length);
    for (let i = 0; i < keys; i++) out[of[i]] = column[i];
    return out;
  });
  return { of, length, codes };
}

type Node = { next: Map<Uint32Array, Node>; found: Combinations | null };
const root: Node = { next: new Map(), found: null };

// The columns are those of the model, which stay.
export function combinationsOf(columns: Uint32Array[]): Combinations {
  let node = root;
  for (const column of columns) {
    let next = node.next.get(column);
    if (!next) node.next.set(column, (next = { next: new Map(), found: null }));
    node = next;
  }
  return (node.found ??= combine(columns));
}
