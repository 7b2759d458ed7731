// SPDX-License-Identifier: BSD-3-Clause
// The cube under a filter: facts are added up by what a view asks for, from the smallest table that tells apart
// the requested and the filtered columns.
import { Combinations, combinationsOf } from "./combinations";
import type { Dim } from "./dims";
import type { Engine } from "./engine";
import { maskOf } from "./conditions";
import { Filter, Selection } from "./filter";
import type { Facts, Sort } from "./model";
import { addBoth, addUp, Both, isIn, met } from "./sums";
import { SIZES, Table } from "./tables";

// The combinations in `rows`; codes and sums are indexed by combination.
export interface Sums {
  rows: Uint32Array;
  codes: Uint32Array[];
  sums: Float64Array[];
}

export interface Group {
  codes: number[];
  sums: number[];
}

export class View {
  readonly filter: Filter;
  private known = new Map<string, Float64Array | null>();

  constructor(readonly engine: Engine, readonly selection: Selection, last: View | null) {
    this.filter = new Filter(engine, selection, last?.filter ?? null);
  }

  private once(what: string, make: () => Float64Array | null): Float64Array | null {
    let out = this.known.get(what);
    if (out === undefined) this.known.set(what, (out = make()));
    return out;
  }

  facts(sort: Sort): Facts {
    return this.engine.model.facts[sort];
  }

  // Rows of the table with all columns that pass all filters.
  rows(sort: Sort): { table: Table; at: Uint32Array } {
    const table = this.filter.table(sort, null);
    return { table, at: this.filter.pass(sort, table) };
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
    const table = this.filter.table(sort, []);
    const values = table.values(name);
    let out = 0;
    for (const at of this.filter.pass(sort, table)) out += values[at];
    return out;
  }

  // A measure for each value of a dimension, as if that dimension had no filter.
  facet(sort: Sort, dim: Dim, name: string): Float64Array | null {
    return this.once(`${sort} ${dim.id} ${name}`, () => this.facetOf(sort, dim, name));
  }

  private facetOf(sort: Sort, dim: Dim, name: string): Float64Array | null {
    const columns = dim.columns[sort];
    if (!columns) return null;
    const table = this.filter.table(sort, columns);
    const { key, time, size } = table;
    const values = table.values(name);
    const fails = this.filter.failsOf(sort, table);
    const { times, sizes } = this.filter.within;
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
    const table = this.filter.table(sort, [], undefined, true);
    const { key, time, size } = table;
    const values = table.values(name);
    const fails = this.filter.failsOf(sort, table);
    const [from, to] = this.filter.within.times ?? [0, Infinity];
    const out = new Float64Array(SIZES);
    for (let i = 0; i < key.length; i++)
      if (!fails[key[i]] && time[i] >= from && time[i] < to) out[size[i]] += values[i];
    return out;
  }

  // A measure over all buckets of time, whatever time is chosen, by the values of a column.
  overTime(sort: Sort, name: string, codes: Uint32Array): { code: number; values: Float64Array }[] {
    const table = this.filter.table(sort, [codes], true);
    const { key, time, size } = table;
    const amounts = table.values(name);
    const fails = this.filter.failsOf(sort, table);
    const { buckets } = this.engine.model.directory.time;
    const { sizes } = this.filter.within;
    const by = combinationsOf([table.column(codes)]);
    const out = new Float64Array(by.length * (buckets + 1)); // the first one: of no known time
    for (let i = 0; i < key.length; i++)
      if (!fails[key[i]] && (!sizes || sizes[size[i]])) out[by.of[key[i]] * (buckets + 1) + time[i]] += amounts[i];
    return Array.from(by.codes[0], (code, i) => ({ code, values: out.subarray(i * (buckets + 1) + 1, (i + 1) * (buckets + 1)) }));
  }

  // Sums by the combinations of some columns, of the facts that pass.
  sumsBy(sort: Sort, columns: Uint32Array[], names: string[]): Sums {
    const table = this.filter.table(sort, columns);
    const at = this.filter.pass(sort, table);
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
