// SPDX-License-Identifier: BSD-3-Clause
// The filter over the cube. Which keys are wanted and which cells are (by time and size) are settled
// apart: sums per key are kept until time or size change, and every view adds up keys.
import type { Dim } from "./dims";
import { combinationsOf } from "./combinations";
import { Facts, Model, SORTS, Sort } from "./model";

export type Wanted = ReadonlyMap<string, ReadonlySet<number>>; // dimension → codes
export interface Range {
  from: number; // buckets, to is not in it
  to: number;
}

export interface Selection {
  wanted: Wanted;
  sizes: ReadonlySet<number>; // empty: all
  range: Range | null;
}

const SIZES = 66;

function maskOf(dim: Dim, codes: ReadonlySet<number>): Uint8Array {
  const mask = new Uint8Array(dim.values.length);
  for (const code of codes) if (code < mask.length) mask[code] = 1;
  return mask;
}

// Adds 1 for each key that has the dimension and none of the wanted codes.
function addFailures(fails: Uint8Array, columns: Uint32Array[], mask: Uint8Array) {
  const [first, second] = columns;
  for (let i = 0; i < fails.length; i++)
    fails[i] += mask[first[i]] | (second ? mask[second[i]] : 0) ? 0 : 1;
}

export class View {
  readonly fails: Record<Sort, Uint8Array>;
  private sizeMask: Uint8Array | null;
  private sums = new Map<string, Float64Array>();
  private kept = new Map<Sort, Uint32Array>();

  constructor(readonly engine: Engine, readonly selection: Selection, last: View | null) {
    this.fails = {} as Record<Sort, Uint8Array>;
    for (const sort of SORTS) this.fails[sort] = this.failuresOf(sort, last);
    this.sizeMask = null;
    if (selection.sizes.size) {
      this.sizeMask = new Uint8Array(SIZES);
      for (const size of selection.sizes) this.sizeMask[size] = 1;
    }
    if (!this.sizeMask && !selection.range) this.sums = engine.whole;
    else if (last && last.selection.sizes === selection.sizes && last.selection.range === selection.range)
      this.sums = last.sums;
  }

  private failuresOf(sort: Sort, last: View | null): Uint8Array {
    if (last?.selection.wanted === this.selection.wanted) return last.fails[sort];
    const fails = new Uint8Array(this.engine.model.facts[sort].keys);
    for (const [id, codes] of this.selection.wanted) {
      const dim = this.engine.dim(id);
      const columns = dim.columns[sort];
      if (columns && codes.size) addFailures(fails, columns, maskOf(dim, codes));
    }
    return fails;
  }

  facts(sort: Sort): Facts {
    return this.engine.model.facts[sort];
  }

  // Per key, over the cells of the wanted times and sizes.
  perKey(sort: Sort, name: string): Float64Array {
    const id = `${sort}.${name}`;
    let sums = this.sums.get(id);
    if (!sums) this.sums.set(id, (sums = this.addUp(sort, name)));
    return sums;
  }

  private addUp(sort: Sort, name: string): Float64Array {
    const facts = this.facts(sort);
    const { key, time, size } = facts;
    const values = facts.cells(name);
    const out = new Float64Array(facts.keys);
    const { sizeMask } = this;
    const { range } = this.selection;
    const from = range ? range.from + 1 : 0;
    const to = range ? range.to + 1 : Infinity;
    const bits = name === "precision";
    for (let i = 0; i < key.length; i++) {
      if (time[i] < from || time[i] >= to || (sizeMask && !sizeMask[size[i]])) continue;
      if (bits) out[key[i]] |= values[i];
      else out[key[i]] += values[i];
    }
    return out;
  }

  total(sort: Sort, name: string): number {
    const sums = this.perKey(sort, name);
    const fails = this.fails[sort];
    let out = 0;
    for (let i = 0; i < sums.length; i++) if (!fails[i]) out += sums[i];
    return out;
  }

  // A measure for each value of a dimension, as if that dimension had no filter.
  facet(sort: Sort, dim: Dim, name: string): Float64Array | null {
    const columns = dim.columns[sort];
    if (!columns) return null;
    const out = new Float64Array(dim.values.length);
    const sums = this.perKey(sort, name);
    const fails = this.fails[sort];
    const codes = this.selection.wanted.get(dim.id);
    const mask = codes?.size ? maskOf(dim, codes) : null;
    const [first, second] = columns;
    for (let i = 0; i < sums.length; i++) {
      const own = mask && !(mask[first[i]] | (second ? mask[second[i]] : 0)) ? 1 : 0;
      if (fails[i] !== own) continue;
      out[first[i]] += sums[i];
      if (second && second[i] !== first[i]) out[second[i]] += sums[i];
    }
    return out;
  }

  // As facet(), for sizes.
  sizes(sort: Sort, name: string): Float64Array {
    const facts = this.facts(sort);
    const { key, time, size } = facts;
    const values = facts.cells(name);
    const fails = this.fails[sort];
    const { range } = this.selection;
    const from = range ? range.from + 1 : 0;
    const to = range ? range.to + 1 : Infinity;
    const out = new Float64Array(SIZES);
    for (let i = 0; i < key.length; i++)
      if (!fails[key[i]] && time[i] >= from && time[i] < to) out[size[i]] += values[i];
    return out;
  }

  // A measure over all buckets of time, by the values of a column: rows of `buckets` numbers.
  overTime(sort: Sort, name: string, codes: Uint32Array, values: number): Float64Array[] {
    const facts = this.facts(sort);
    const { key, time, size } = facts;
    const amounts = facts.cells(name);
    const fails = this.fails[sort];
    const { buckets } = this.engine.model.directory.time;
    const { sizeMask } = this;
    const out: Float64Array[] = new Array(values);
    for (let i = 0; i < key.length; i++) {
      const k = key[i];
      if (fails[k] || !time[i] || (sizeMask && !sizeMask[size[i]])) continue;
      const code = codes[k];
      (out[code] ??= new Float64Array(buckets))[time[i] - 1] += amounts[i];
    }
    return out;
  }

  // Sums by the combinations of some columns, of the facts that pass.
  sumsBy(sort: Sort, columns: Uint32Array[], names: string[]): Sums {
    const combinations = combinationsOf(columns);
    const { of, length } = combinations;
    const keys = this.present(sort);
    const seen = new Uint8Array(length);
    const rows = new Uint32Array(length);
    let n = 0;
    for (const key of keys) {
      if (seen[of[key]]) continue;
      seen[of[key]] = 1;
      rows[n++] = of[key];
    }
    const sums = names.map((name) => {
      const out = new Float64Array(length);
      const values = this.perKey(sort, name);
      if (name === "precision") for (const key of keys) out[of[key]] |= values[key];
      else for (const key of keys) out[of[key]] += values[key];
      return out;
    });
    return { rows: rows.subarray(0, n), codes: combinations.codes, sums };
  }

  // The same, a row for each.
  group(sort: Sort, columns: Uint32Array[], names: string[]): Group[] {
    const { rows, codes, sums } = this.sumsBy(sort, columns, names);
    return Array.from(rows, (row) => ({ codes: codes.map((c) => c[row]), sums: sums.map((s) => s[row]) }));
  }

  // Keys that pass and have anything in the wanted times and sizes.
  private present(sort: Sort): Uint32Array {
    let keys = this.kept.get(sort);
    if (keys) return keys;
    const fails = this.fails[sort];
    const counts = this.perKey(sort, "count");
    const retries = sort === "transfers" ? this.perKey(sort, "retries") : null;
    keys = new Uint32Array(fails.length);
    let n = 0;
    for (let i = 0; i < fails.length; i++) if (!fails[i] && (counts[i] || retries?.[i])) keys[n++] = i;
    this.kept.set(sort, (keys = keys.subarray(0, n)));
    return keys;
  }
}

// Of the combinations in `rows`; codes and sums are by combination.
export interface Sums {
  rows: Uint32Array;
  codes: Uint32Array[];
  sums: Float64Array[];
}

export interface Group {
  codes: number[];
  sums: number[];
}

export class Engine {
  readonly whole = new Map<string, Float64Array>(); // sums per key over all times and sizes

  private byId: Map<string, Dim>;

  constructor(readonly model: Model, readonly dims: Dim[]) {
    this.byId = new Map(dims.map((dim) => [dim.id, dim]));
  }

  dim(id: string): Dim {
    const dim = this.byId.get(id);
    if (!dim) throw new Error(`no dimension ${id}`);
    return dim;
  }

  has(id: string): boolean {
    return this.byId.has(id);
  }
}
