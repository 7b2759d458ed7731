// SPDX-License-Identifier: BSD-3-Clause
// The facts of some times and sizes, as rows of a key and of what to add up: cells of the cube, or, where no time
// and no size is chosen and keys have many cells, the keys' sums, which are made once.
import { Facts, Sort } from "./model";

export interface Range {
  from: number; // buckets, to is not in it
  to: number;
}

const SIZES = 66;
const MANY = 2; // cells of a key, from which its sum is worth keeping

export interface Rows {
  key: Uint32Array;
  at: Uint32Array; // positions in values()
}

// One sort of fact in a cut. Rows of which nothing happened are left out.
export class Source {
  readonly rows: Rows;
  private sums: Map<string, Float64Array> | null = null; // by key

  constructor(readonly facts: Facts, cut: Cut) {
    if (cut.whole && facts.key.length > MANY * facts.keys) {
      this.sums = new Map();
      this.rows = this.keys();
    } else this.rows = this.cells(cut);
  }

  private keys(): Rows {
    const [counts, retries] = ["count", "retries"].map((name) => this.values(name));
    const keys = counts.map((_, key) => key).filter((key) => counts[key] > 0 || retries[key] > 0);
    const key = Uint32Array.from(keys);
    return { key, at: key };
  }

  private cells({ times: [from, to], sizes }: Cut): Rows {
    const { key, time, size } = this.facts;
    const [counts, retries] = ["count", "retries"].map((name) => this.facts.cells(name));
    const at = new Uint32Array(key.length);
    let n = 0;
    for (let i = 0; i < key.length; i++)
      if (time[i] >= from && time[i] < to && sizes[size[i]] && (counts[i] > 0 || retries[i] > 0)) at[n++] = i;
    const keys = new Uint32Array(n);
    for (let i = 0; i < n; i++) keys[i] = key[at[i]];
    return { key: keys, at: at.subarray(0, n) };
  }

  values(name: string): Float64Array {
    if (!this.sums) return this.facts.cells(name);
    let sums = this.sums.get(name);
    if (!sums) this.sums.set(name, (sums = this.byKey(name)));
    return sums;
  }

  private byKey(name: string): Float64Array {
    const { key, keys } = this.facts;
    const values = this.facts.cells(name);
    const out = new Float64Array(keys);
    if (name === "precision") for (let i = 0; i < key.length; i++) out[key[i]] |= values[i];
    else for (let i = 0; i < key.length; i++) out[key[i]] += values[i];
    return out;
  }
}

export class Cut {
  readonly whole: boolean;
  readonly times: [number, number]; // of the column, to is not in it
  readonly sizes: Uint8Array; // by class: 1 is wanted
  private sources = new Map<Sort, Source>();

  constructor(private facts: Record<Sort, Facts>, sizes: ReadonlySet<number>, range: Range | null) {
    this.whole = !sizes.size && !range;
    this.times = range ? [range.from + 1, range.to + 1] : [0, Infinity];
    this.sizes = new Uint8Array(SIZES).fill(sizes.size ? 0 : 1);
    for (const size of sizes) this.sizes[size] = 1;
  }

  source(sort: Sort): Source {
    let source = this.sources.get(sort);
    if (!source) this.sources.set(sort, (source = new Source(this.facts[sort], this)));
    return source;
  }
}
