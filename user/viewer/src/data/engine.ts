// SPDX-License-Identifier: BSD-3-Clause
// The filter over the cube. Which keys are wanted and which cells are (by time and size) are settled apart. Most
// tables have few rows, so facts are added up once by all columns that have few values, and these sums again.
import type { Dim } from "./dims";
import { Combinations, combinationsOf } from "./combinations";
import { Cut, Range, Rows } from "./cut";
import { addUp, met } from "./sums";
import { Facts, Model, Sort } from "./model";

export type { Range };
export type Wanted = ReadonlyMap<string, ReadonlySet<number>>; // dimension → codes

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
  if (second) for (let i = 0; i < fails.length; i++) fails[i] += mask[first[i]] | mask[second[i]] ? 0 : 1;
  else for (let i = 0; i < fails.length; i++) fails[i] += 1 - mask[first[i]];
}

const AS_FEW = 4; // times fewer combinations than rows are worth a step between

// By all columns with few values.
class Few {
  readonly rows: Rows;
  private sums = new Map<string, Float64Array>();

  constructor(private view: View, private sort: Sort, readonly by: Combinations) {
    const at = view.met(sort, by);
    this.rows = { key: at, at };
  }

  values(name: string): Float64Array {
    let sums = this.sums.get(name);
    if (!sums) this.sums.set(name, (sums = this.view.sumsOf(this.sort, this.by, name)));
    return sums;
  }
}

export class View {
  private cut: Cut;
  private failing: Map<Sort, Uint8Array>;
  private passing = new Map<Sort, Rows>();
  private fews = new Map<Sort, Few | null>();

  constructor(readonly engine: Engine, readonly selection: Selection, last: View | null) {
    const { wanted, sizes, range } = selection;
    const same = last && last.selection.sizes === sizes && last.selection.range === range;
    this.cut = same ? last.cut : sizes.size || range ? new Cut(engine.model.facts, sizes, range) : engine.whole;
    this.failing = last?.selection.wanted === wanted ? last.failing : new Map();
  }

  // By key: how many filters it fails.
  fails(sort: Sort): Uint8Array {
    let fails = this.failing.get(sort);
    if (fails) return fails;
    this.failing.set(sort, (fails = new Uint8Array(this.facts(sort).keys)));
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

  // What passes all filters.
  rows(sort: Sort): Rows {
    let rows = this.passing.get(sort);
    if (!rows) this.passing.set(sort, (rows = this.pass(sort)));
    return rows;
  }

  private pass(sort: Sort): Rows {
    const { key, at } = this.cut.source(sort).rows;
    const fails = this.fails(sort);
    const out = { key: new Uint32Array(key.length), at: new Uint32Array(key.length) };
    let n = 0;
    for (let i = 0; i < key.length; i++) {
      if (fails[key[i]]) continue;
      out.key[n] = key[i];
      out.at[n++] = at[i];
    }
    return { key: out.key.subarray(0, n), at: out.at.subarray(0, n) };
  }

  // Of what passes, by position in rows().at.
  values(sort: Sort, name: string): Float64Array {
    return this.cut.source(sort).values(name);
  }

  sumsOf(sort: Sort, by: Combinations, name: string): Float64Array {
    return addUp(this.rows(sort), by.of, by.length, this.values(sort, name), name === "precision");
  }

  met(sort: Sort, by: Combinations): Uint32Array {
    return met(this.rows(sort).key, by.of, by.length);
  }

  total(sort: Sort, name: string): number {
    const { at } = this.rows(sort);
    const values = this.values(sort, name);
    let out = 0;
    for (let i = 0; i < at.length; i++) out += values[at[i]];
    return out;
  }

  // A measure for each value of a dimension, as if that dimension had no filter.
  facet(sort: Sort, dim: Dim, name: string): Float64Array | null {
    const columns = dim.columns[sort];
    if (!columns) return null;
    const codes = this.selection.wanted.get(dim.id);
    const out = new Float64Array(dim.values.length);
    if (!codes?.size && columns.length === 1) {
      const { rows, codes: of, sums } = this.sumsBy(sort, columns, [name]);
      for (const row of rows) out[of[0][row]] += sums[0][row];
      return out;
    }
    const source = this.cut.source(sort);
    const { key, at } = source.rows;
    const values = source.values(name);
    const fails = this.fails(sort);
    const mask = codes?.size ? maskOf(dim, codes) : new Uint8Array(dim.values.length).fill(1);
    const [first, second = first] = columns;
    for (let i = 0; i < key.length; i++) {
      const k = key[i];
      if (fails[k] !== (mask[first[k]] | mask[second[k]] ? 0 : 1)) continue;
      out[first[k]] += values[at[i]];
      if (second[k] !== first[k]) out[second[k]] += values[at[i]];
    }
    return out;
  }

  // As facet(), for sizes.
  sizes(sort: Sort, name: string): Float64Array {
    const { key, time, size } = this.facts(sort);
    const values = this.facts(sort).cells(name);
    const fails = this.fails(sort);
    const [from, to] = this.cut.times;
    const out = new Float64Array(SIZES);
    for (let i = 0; i < key.length; i++)
      if (!fails[key[i]] && time[i] >= from && time[i] < to) out[size[i]] += values[i];
    return out;
  }

  // A measure over all buckets of time, whatever time is chosen, by the values of a column.
  overTime(sort: Sort, name: string, codes: Uint32Array): { code: number; values: Float64Array }[] {
    const { key, time, size } = this.facts(sort);
    const amounts = this.facts(sort).cells(name);
    const fails = this.fails(sort);
    const { buckets } = this.engine.model.directory.time;
    const { sizes } = this.cut;
    const by = combinationsOf([codes]);
    const out = new Float64Array(by.length * (buckets + 1)); // the first one: of no known time
    for (let i = 0; i < key.length; i++)
      if (!fails[key[i]] && sizes[size[i]]) out[by.of[key[i]] * (buckets + 1) + time[i]] += amounts[i];
    return Array.from(by.codes[0], (code, i) => ({ code, values: out.subarray(i * (buckets + 1) + 1, (i + 1) * (buckets + 1)) }));
  }

  private few(sort: Sort): Few | null {
    let few = this.fews.get(sort);
    if (few === undefined) {
      const by = combinationsOf(this.engine.few[sort]);
      this.fews.set(sort, (few = AS_FEW * by.length < this.rows(sort).key.length ? new Few(this, sort, by) : null));
    }
    return few;
  }

  // Sums by the combinations of some columns, of the facts that pass.
  sumsBy(sort: Sort, columns: Uint32Array[], names: string[]): Sums {
    const few = this.engine.hasFew(sort, columns) ? this.few(sort) : null;
    if (!few) {
      const by = combinationsOf(columns);
      return { rows: this.met(sort, by), codes: by.codes, sums: names.map((name) => this.sumsOf(sort, by, name)) };
    }
    const by = combinationsOf(columns.map((column) => few.by.codes[this.engine.few[sort].indexOf(column)]));
    const sums = names.map((name) => addUp(few.rows, by.of, by.length, few.values(name), name === "precision"));
    return { rows: met(few.rows.key, by.of, by.length), codes: by.codes, sums };
  }

  // The same, a row for each.
  group(sort: Sort, columns: Uint32Array[], names: string[]): Group[] {
    const { rows, codes, sums } = this.sumsBy(sort, columns, names);
    return Array.from(rows, (row) => ({ codes: codes.map((c) => c[row]), sums: sums.map((s) => s[row]) }));
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

// Columns that have few values, however many processes there are.
const FEW: Record<Sort, string[]> = {
  calls: ["function"],
  ops: ["ucp_op", "function", "protocol", "memory"],
  transfers: ["transport", "device", "op", "protocol", "locality", "kind", "function", "ucp_op", "src_mem", "dst_mem"],
  messages: ["function", "ucp_op", "chain", "via", "chain_reason", "src_mem", "dst_mem"],
};

export class Engine {
  readonly whole: Cut;
  readonly few: Record<Sort, Uint32Array[]>;
  private byId: Map<string, Dim>;

  constructor(readonly model: Model, readonly dims: Dim[]) {
    this.byId = new Map(dims.map((dim) => [dim.id, dim]));
    this.whole = new Cut(model.facts, new Set(), null);
    this.few = Object.fromEntries(Object.entries(FEW).map(([sort, names]) =>
      [sort, names.map((name) => model.facts[sort as Sort].column(name))])) as Record<Sort, Uint32Array[]>;
  }

  hasFew(sort: Sort, columns: Uint32Array[]): boolean {
    return columns.every((column) => this.few[sort].includes(column));
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
