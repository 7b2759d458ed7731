// SPDX-License-Identifier: BSD-3-Clause
// The reader's choices as a filter over tables: which of their keys fail it, and which of their rows pass.
import { Conditions, failures, Wanted } from "./conditions";
import type { Engine } from "./engine";
import type { Sort } from "./model";
import { SIZES, Table } from "./tables";

export interface Range {
  from: number; // buckets, to is not in it
  to: number;
}

export interface Selection {
  wanted: Wanted;
  sizes: ReadonlySet<number>; // empty: all
  range: Range | null;
}

// Which rows of a table are of the chosen times and sizes.
interface Within {
  times: [number, number] | null; // of the column, to is not in it
  sizes: Uint8Array | null; // by class: 1 is wanted
}

export class Filter {
  readonly within: Within;
  readonly conditions: Conditions;
  private failing: Map<Table, Uint8Array>;
  private passing = new Map<Table, Uint32Array>();

  // last: its results for unchanged dimensions are reused.
  constructor(private engine: Engine, private selection: Selection, last: Filter | null) {
    const { wanted, sizes, range } = selection;
    this.within = { times: range && [range.from + 1, range.to + 1], sizes: sizes.size ? new Uint8Array(SIZES) : null };
    for (const size of sizes) this.within.sizes![size] = 1;
    const same = last?.selection.wanted === wanted;
    this.failing = same ? last.failing : new Map();
    this.conditions = same ? last.conditions : new Conditions(engine, wanted);
  }

  table(sort: Sort, columns: Uint32Array[] | null, time = !!this.within.times, size = !!this.within.sizes): Table {
    const of = columns ?? this.engine.all[sort];
    return this.engine.tables[sort].pick([...of, ...this.conditions.of(sort).flat(2).map(({ column }) => column)], time, size);
  }

  // By key of a table: how many conditions it fails.
  failsOf(sort: Sort, table: Table): Uint8Array {
    let fails = this.failing.get(table);
    if (fails) return fails;
    this.failing.set(table, (fails = failures(table.keys, this.conditions.of(sort), (of) => table.column(of))));
    return fails;
  }

  // By key of the facts.
  fails(sort: Sort): Uint8Array {
    return this.failsOf(sort, this.engine.tables[sort].all());
  }

  // Rows that pass. Runs of them that fail are not looked at.
  pass(sort: Sort, table: Table): Uint32Array {
    let found = this.passing.get(table);
    if (found) return found;
    const { key, time, size, runs } = table;
    const { times, sizes } = this.within;
    const [from, to] = times ?? [0, 0];
    const conditions = this.conditions.of(sort);
    const ofRuns = runs ? conditions.filter((one) => one.flat().every(({ column }) => runs.level.has(column))) : [];
    const fails = ofRuns.length === conditions.length ? null
      : failures(table.keys, conditions.filter((one) => !ofRuns.includes(one)), (of) => table.column(of));
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
}
