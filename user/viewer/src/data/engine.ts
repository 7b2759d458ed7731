// SPDX-License-Identifier: BSD-3-Clause
// The filter over the cube: facts are added up by what a view asks for, from the smallest table that tells apart
// what is asked for and what is filtered by.
import { Combinations, combinationsOf } from "./combinations";
import type { Dim } from "./dims";
import { Facts, Model, Sort, SORTS } from "./model";
import { addBoth, addUp, Both, isIn, met } from "./sums";
import { Table, Tables } from "./tables";

export interface Range {
  from: number; // buckets, to is not in it
  to: number;
}

export type Wanted = ReadonlyMap<string, ReadonlySet<number>>; // dimension → codes

export interface Selection {
  wanted: Wanted;
  sizes: ReadonlySet<number>; // empty: all
  range: Range | null;
}

const SIZES = 66;

function maskOf(dim: Dim, codes: ReadonlySet<number> | undefined): Uint8Array {
  const mask = new Uint8Array(dim.values.length).fill(codes?.size ? 0 : 1);
  for (const code of codes ?? []) if (code < mask.length) mask[code] = 1;
  return mask;
}

interface Filter {
  columns: Uint32Array[]; // of the facts: one of them must have a wanted code
  mask: Uint8Array; // by code: 1 is wanted
}

// By key of a table, or of a level: how many filters it fails.
function failures(keys: number, filters: Filter[], column: (of: Uint32Array) => Uint32Array): Uint8Array {
  const fails = new Uint8Array(keys);
  for (const { columns, mask } of filters) {
    const [first, second] = columns.map(column);
    if (second) for (let i = 0; i < keys; i++) fails[i] += mask[first[i]] | mask[second[i]] ? 0 : 1;
    else for (let i = 0; i < keys; i++) fails[i] += 1 - mask[first[i]];
  }
  return fails;
}

// Which rows of a table are of the chosen times and sizes.
interface Within {
  times: [number, number] | null; // of the column, to is not in it
  sizes: Uint8Array | null; // by class: 1 is wanted
}

export class View {
  private failing: Map<Table, Uint8Array>;
  private passing = new Map<Table, Uint32Array>();
  private known = new Map<string, Float64Array | null>();
  private within: Within;

  constructor(readonly engine: Engine, readonly selection: Selection, last: View | null) {
    const { wanted, sizes, range } = selection;
    this.within = { times: range && [range.from + 1, range.to + 1], sizes: sizes.size ? new Uint8Array(SIZES) : null };
    for (const size of sizes) this.within.sizes![size] = 1;
    this.failing = last?.selection.wanted === wanted ? last.failing : new Map();
  }

  private once(what: string, make: () => Float64Array | null): Float64Array | null {
    let out = this.known.get(what);
    if (out === undefined) this.known.set(what, (out = make()));
    return out;
  }

  private filters(sort: Sort): Filter[] {
    const out: Filter[] = [];
    for (const [id, codes] of this.selection.wanted) {
      const dim = this.engine.dim(id);
      const columns = dim.columns[sort];
      if (columns && codes.size) out.push({ columns, mask: maskOf(dim, codes) });
    }
    return out;
  }

  private table(sort: Sort, columns: Uint32Array[] | null, time = !!this.within.times, size = !!this.within.sizes): Table {
    const of = columns ?? this.engine.all[sort];
    return this.engine.tables[sort].pick([...of, ...this.filters(sort).flatMap((filter) => filter.columns)], time, size);
  }

  // By key of a table: how many filters it fails.
  private failsOf(sort: Sort, table: Table): Uint8Array {
    let fails = this.failing.get(table);
    if (fails) return fails;
    this.failing.set(table, (fails = failures(table.keys, this.filters(sort), (of) => table.column(of))));
    return fails;
  }

  // By key of the facts.
  fails(sort: Sort): Uint8Array {
    return this.failsOf(sort, this.engine.tables[sort].all());
  }

  facts(sort: Sort): Facts {
    return this.engine.model.facts[sort];
  }

  // Rows that pass. Runs of them that fail are not looked at.
  private pass(sort: Sort, table: Table): Uint32Array {
    let found = this.passing.get(table);
    if (found) return found;
    const { key, time, size, runs } = table;
    const { times, sizes } = this.within;
    const [from, to] = times ?? [0, 0];
    const filters = this.filters(sort);
    const ofRuns = runs ? filters.filter(({ columns }) => columns.every((column) => runs.level.has(column))) : [];
    const fails = ofRuns.length === filters.length ? null
      : failures(table.keys, filters.filter((filter) => !ofRuns.includes(filter)), (of) => table.column(of));
    const start = runs?.start ?? [0, key.length];
    const failing = runs && failures(start.length - 1, ofRuns, (of) => runs.level.column(of));
    const out = new Uint32Array(key.length);
    let n = 0;
    for (let run = 0; run + 1 < start.length; run++) {
      if (failing?.[run]) continue;
      for (let i = start[run]; i < start[run + 1]; i++) {
        if ((fails && fails[key[i]]) || (times && (time[i] < from || time[i] >= to)) || (sizes && !sizes[size[i]])) continue;
        out[n++] = i;
      }
    }
    this.passing.set(table, (found = out.subarray(0, n)));
    return found;
  }

  // What passes all filters: rows of a table that has all columns.
  rows(sort: Sort): { table: Table; at: Uint32Array } {
    const table = this.table(sort, null);
    return { table, at: this.pass(sort, table) };
  }

  // By combination of codes of the facts' keys.
  sumsOf(sort: Sort, by: Combinations, name: string): Float64Array {
    const { table, at } = this.rows(sort);
    return addUp(at, table.places(by), by.length, table.values(name), name === "precision");
  }

  // The combinations in `found`, then the others that occur.
  met(sort: Sort, by: Combinations, found: Uint32Array = new Uint32Array()): Uint32Array {
    const { table, at } = this.rows(sort);
    return met(found, at, table.places(by), by.length);
  }

  // Two sums and what occurs.
  both(sort: Sort, by: Combinations, a: string, b: string): Both {
    const { table, at } = this.rows(sort);
    return addBoth(at, table.places(by), by.length, table.values(a), table.values(b));
  }

  // The rows that pass, of one combination.
  rowsOf(sort: Sort, by: Combinations, place: number): { table: Table; own: number[] } {
    const { table, at } = this.rows(sort);
    const { start, rows } = table.index(by);
    return { table, own: Array.from(rows.subarray(start[place], start[place + 1])).filter((row) => isIn(at, row)) };
  }

  total(sort: Sort, name: string): number {
    const table = this.table(sort, []);
    const values = table.values(name);
    let out = 0;
    for (const at of this.pass(sort, table)) out += values[at];
    return out;
  }

  // A measure for each value of a dimension, as if that dimension had no filter.
  facet(sort: Sort, dim: Dim, name: string): Float64Array | null {
    return this.once(`${sort} ${dim.id} ${name}`, () => this.facetOf(sort, dim, name));
  }

  private facetOf(sort: Sort, dim: Dim, name: string): Float64Array | null {
    const columns = dim.columns[sort];
    if (!columns) return null;
    const table = this.table(sort, columns);
    const { key, time, size } = table;
    const values = table.values(name);
    const fails = this.failsOf(sort, table);
    const { times, sizes } = this.within;
    const [from, to] = times ?? [0, 0];
    const mask = maskOf(dim, this.selection.wanted.get(dim.id));
    const [first, second = first] = columns.map((column) => table.column(column));
    const out = new Float64Array(dim.values.length);
    for (let i = 0; i < key.length; i++) {
      const k = key[i];
      if (fails[k] !== (mask[first[k]] | mask[second[k]] ? 0 : 1)) continue;
      if ((times && (time[i] < from || time[i] >= to)) || (sizes && !sizes[size[i]])) continue;
      out[first[k]] += values[i];
      if (second[k] !== first[k]) out[second[k]] += values[i];
    }
    return out;
  }

  // As facet(), for sizes.
  sizes(sort: Sort, name: string): Float64Array {
    return this.once(`${sort} sizes ${name}`, () => this.sizesOf(sort, name))!;
  }

  private sizesOf(sort: Sort, name: string): Float64Array {
    const table = this.table(sort, [], undefined, true);
    const { key, time, size } = table;
    const values = table.values(name);
    const fails = this.failsOf(sort, table);
    const [from, to] = this.within.times ?? [0, Infinity];
    const out = new Float64Array(SIZES);
    for (let i = 0; i < key.length; i++)
      if (!fails[key[i]] && time[i] >= from && time[i] < to) out[size[i]] += values[i];
    return out;
  }

  // A measure over all buckets of time, whatever time is chosen, by the values of a column.
  overTime(sort: Sort, name: string, codes: Uint32Array): { code: number; values: Float64Array }[] {
    const table = this.table(sort, [codes], true);
    const { key, time, size } = table;
    const amounts = table.values(name);
    const fails = this.failsOf(sort, table);
    const { buckets } = this.engine.model.directory.time;
    const { sizes } = this.within;
    const by = combinationsOf([table.column(codes)]);
    const out = new Float64Array(by.length * (buckets + 1)); // the first one: of no known time
    for (let i = 0; i < key.length; i++)
      if (!fails[key[i]] && (!sizes || sizes[size[i]])) out[by.of[key[i]] * (buckets + 1) + time[i]] += amounts[i];
    return Array.from(by.codes[0], (code, i) => ({ code, values: out.subarray(i * (buckets + 1) + 1, (i + 1) * (buckets + 1)) }));
  }

  // Sums by the combinations of some columns, of the facts that pass.
  sumsBy(sort: Sort, columns: Uint32Array[], names: string[]): Sums {
    const table = this.table(sort, columns);
    const at = this.pass(sort, table);
    const by = combinationsOf(columns.map((column) => table.column(column)));
    const places = table.places(by);
    const one = (name: string) => addUp(at, places, by.length, table.values(name), name === "precision");
    if (names.length < 2) return { rows: met(new Uint32Array(), at, places, by.length), codes: by.codes, sums: names.map(one) };
    const [a, b, ...others] = names; // no precision among the first ones
    const both = addBoth(at, places, by.length, table.values(a), table.values(b));
    return { rows: both.met, codes: by.codes, sums: [...both.sums, ...others.map(one)] };
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

// Columns of processes that are asked for by themselves.
const ENDS: Record<Sort, string[]> = { calls: ["process"], ops: ["process"], transfers: ["src", "dst", "process"], messages: ["src"] };

export class Engine {
  readonly tables: Record<Sort, Tables>;
  readonly all: Record<Sort, Uint32Array[]>; // a column that only a table of all columns has
  private byId: Map<string, Dim>;

  constructor(readonly model: Model, readonly dims: Dim[]) {
    this.byId = new Map(dims.map((dim) => [dim.id, dim]));
    this.all = Object.fromEntries(SORTS.map((sort) => [sort, [new Uint32Array(0)]])) as Record<Sort, Uint32Array[]>;
    this.tables = Object.fromEntries(SORTS.map((sort) => [sort, this.tablesOf(sort)])) as Record<Sort, Tables>;
  }

  private tablesOf(sort: Sort): Tables {
    const { model } = this;
    const facts = model.facts[sort];
    const few = FEW[sort].map((name) => facts.column(name));
    if (sort === "transfers") few.push(...this.dim("memory").columns.transfers!);
    const more = ENDS[sort].map((name) => facts.column(name)).map((column) => [column, model.hostsOf(column)]);
    if (facts.has("src")) more.push(["src", "dst"].map((end) => model.hostsOf(facts.column(end))));
    if (sort === "calls") more.push([facts.column("place")]);
    return new Tables(facts, few, more, model.directory.time.buckets + 1);
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
