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

const FEW = 1 << 16; // ids whose numbering stays in a cache

// Codes of a column are below this; 1: it distinguishes nothing.
function widthOf(column: Uint32Array): number {
  let [most, differs] = [0, 0];
  for (let i = 0; i < column.length; i++) {
    differs |= column[i] ^ column[0];
    if (column[i] > most) most = column[i];
  }
  return differs ? most + 1 : 1;
}

// Several columns at once while their ids are few, so that an id is never more than a number can hold.
function combine(columns: Uint32Array[]): Combinations {
  const keys = columns[0].length;
  const ids = new Float64Array(keys);
  let below = Math.min(1, keys);
  let length = below; // of the ids in use, where they are numbered
  for (const column of columns) {
    const width = widthOf(column);
    if (width === 1) continue;
    if (below > length && below * width > FEW) {
      const found = numbered(ids, below);
      ids.set(found.of);
      below = length = found.length;
    }
    for (let i = 0; i < keys; i++) ids[i] = ids[i] * width + column[i];
    below *= width;
  }
  const found = numbered(ids, below);
  const codes = columns.map((column) => {
    const out = new Uint32Array(found.length);
    for (let i = 0; i < keys; i++) out[found.of[i]] = column[i];
    return out;
  });
  return { ...found, codes };
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
