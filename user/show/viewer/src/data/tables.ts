// SPDX-License-Identifier: BSD-3-Clause
// The facts of one sort as tables to be filtered and added up: its cells, and cells that are alike in some columns
// (and in their time or size, where these are asked for) as one row. Most questions need few columns, so the
// smallest table that can answer is used. None depends on a filter, so each is made once, when it is first needed.
import { Combinations, combinationsOf, numbered } from "./combinations";
import type { Facts } from "./model";
import { Index, indexOf } from "./sums";

export const SIZES = 66; // classes of payload

export interface Table {
  readonly keys: number;
  readonly key: Uint32Array; // by row
  readonly time: Uint32Array; // by row, where the table has it
  readonly size: Uint8Array;
  readonly runs: Runs | null;
  // Codes by key of this table, of a column of the facts that it has.
  column(of: Uint32Array): Uint32Array;
  values(name: string): Float64Array; // by row
  // By row, which of the combinations of some of its columns it has; and the rows of each.
  places(by: Combinations): Uint32Array;
  index(by: Combinations): Index;
}

// Rows that are alike in the columns of a level follow one another: from start[code] to start[code + 1].
interface Runs {
  level: Level;
  start: Uint32Array;
}

// Which combinations of some columns there are, those of another level among them.
class Level {
  private found: Combinations | null = null;
  private codes = new Map<Uint32Array, Uint32Array>();

  constructor(private base: Level | null, private columns: Uint32Array[]) {}

  has(column: Uint32Array): boolean {
    return this.columns.includes(column) || !!this.base?.has(column);
  }

  get by(): Combinations {
    return (this.found ??= combinationsOf(this.base ? [this.base.by.of, ...this.columns] : this.columns));
  }

  column(of: Uint32Array): Uint32Array {
    let codes = this.codes.get(of);
    if (codes) return codes;
    const at = this.columns.indexOf(of);
    if (at >= 0) codes = this.by.codes[at + Number(this.base !== null)];
    else {
      const below = this.base!.column(of);
      codes = this.by.codes[0].map((code) => below[code]);
    }
    this.codes.set(of, codes);
    return codes;
  }
}

class Placed {
  private found = new Map<Combinations, Uint32Array>();
  private indices = new Map<Combinations, Index>();

  of(key: Uint32Array, by: Combinations): Uint32Array {
    let places = this.found.get(by);
    if (places) return places;
    this.found.set(by, (places = new Uint32Array(key.length)));
    for (let i = 0; i < key.length; i++) places[i] = by.of[key[i]];
    return places;
  }

  index(key: Uint32Array, by: Combinations): Index {
    let index = this.indices.get(by);
    if (!index) this.indices.set(by, (index = indexOf(this.of(key, by), by.length)));
    return index;
  }
}

// Rows of which nothing happened are left out.
function happened(facts: Facts): Uint32Array {
  const [counts, retries, waited] = ["count", "retries", "waited"].map((name) => facts.cells(name));
  const out = new Uint32Array(facts.key.length);
  let n = 0;
  for (let i = 0; i < out.length; i++) if (counts[i] > 0 || retries[i] > 0 || waited[i] > 0) out[n++] = i;
  return out.subarray(0, n);
}

class Cells implements Table {
  readonly keys: number;
  readonly key: Uint32Array;
  readonly time: Uint32Array;
  readonly size: Uint8Array;
  readonly runs: Runs;
  private at: Uint32Array;
  private sums = new Map<string, Float64Array>();
  private placed = new Placed();

  constructor(private facts: Facts, level: Level) {
    const { key, time, size, keys } = facts;
    const { of, length } = level.by;
    const all = happened(facts);
    const n = all.length;
    const start = new Uint32Array(length + 1);
    for (let i = 0; i < n; i++) start[of[key[all[i]]] + 1]++;
    for (let i = 0; i < length; i++) start[i + 1] += start[i];
    const next = start.slice();
    this.keys = keys;
    this.runs = { level, start };
    [this.at, this.key, this.time, this.size] = [new Uint32Array(n), new Uint32Array(n), new Uint32Array(n), new Uint8Array(n)];
    for (let i = 0; i < n; i++) {
      const from = all[i];
      const to = next[of[key[from]]]++;
      this.at[to] = from;
      this.key[to] = key[from];
      this.time[to] = time[from];
      this.size[to] = size[from];
    }
  }

  column(of: Uint32Array): Uint32Array {
    return of;
  }

  values(name: string): Float64Array {
    let out = this.sums.get(name);
    if (out) return out;
    const cells = this.facts.cells(name);
    this.sums.set(name, (out = new Float64Array(this.at.length)));
    for (let i = 0; i < out.length; i++) out[i] = cells[this.at[i]];
    return out;
  }

  places(by: Combinations): Uint32Array {
    return this.placed.of(this.key, by);
  }

  index(by: Combinations): Index {
    return this.placed.index(this.key, by);
  }
}

class Rollup implements Table {
  readonly keys: number;
  readonly key: Uint32Array;
  readonly time: Uint32Array;
  readonly size: Uint8Array;
  readonly runs = null;
  private row: Uint32Array; // of each cell
  private sums = new Map<string, Float64Array>();
  private placed = new Placed();

  // level: null: all columns
  constructor(private cells: Table, private level: Level | null, times: number, sizes: boolean) {
    const of = level?.by.of ?? null;
    const { key, time, size } = cells;
    this.keys = level?.by.length ?? cells.keys;
    const ids = new Float64Array(key.length);
    for (let i = 0; i < ids.length; i++) {
      const own = of ? of[key[i]] : key[i];
      ids[i] = (sizes ? own * SIZES + size[i] : own) * times + (times > 1 ? time[i] : 0);
    }
    const { of: row, length } = numbered(ids, this.keys * times * (sizes ? SIZES : 1));
    this.row = row;
    this.key = new Uint32Array(length);
    this.time = new Uint32Array(length);
    this.size = new Uint8Array(length);
    for (let i = 0; i < row.length; i++) {
      this.key[row[i]] = of ? of[key[i]] : key[i];
      this.time[row[i]] = time[i];
      this.size[row[i]] = size[i];
    }
  }

  column(of: Uint32Array): Uint32Array {
    return this.level ? this.level.column(of) : of;
  }

  places(by: Combinations): Uint32Array {
    return this.placed.of(this.key, by);
  }

  index(by: Combinations): Index {
    return this.placed.index(this.key, by);
  }

  values(name: string): Float64Array {
    let sums = this.sums.get(name);
    if (sums) return sums;
    this.sums.set(name, (sums = new Float64Array(this.key.length)));
    const values = this.cells.values(name);
    const { row } = this;
    if (name === "precision") for (let i = 0; i < row.length; i++) sums[row[i]] |= values[i];
    else for (let i = 0; i < row.length; i++) sums[row[i]] += values[i];
    return sums;
  }
}

const MANY = 2; // cells to a row, from which a table of fewer rows is worth keeping
const SOME_SIZES = 24; // that occur, about

export class Tables {
  private cells: Cells | null = null;
  private made = new Map<string, Table>();
  private levels: [Level, ...(Level | null)[]];

  // few: columns that have few values; more: further columns that are worth a level with these.
  constructor(private facts: Facts, few: Uint32Array[], more: Uint32Array[][], private times: number) {
    const first = new Level(null, few);
    this.levels = [first, ...more.map((columns) => new Level(first, columns)), null];
  }

  all(): Table {
    return (this.cells ??= new Cells(this.facts, this.levels[0]!));
  }

  // The smallest table that has these columns, and times and sizes where they are needed.
  pick(columns: Uint32Array[], time: boolean, size: boolean): Table {
    for (const [i, level] of this.levels.entries()) {
      if (level && !columns.every((column) => level.has(column))) continue;
      const id = `${i} ${time} ${size}`;
      let table = this.made.get(id);
      if (!table) this.made.set(id, (table = this.make(level, time, size)));
      if (table !== this.cells) return table;
    }
    return this.all();
  }

  private make(level: Level | null, time: boolean, size: boolean): Table {
    const cells = this.all();
    const keys = level?.by.length ?? cells.keys;
    const rows = keys * (time ? this.times : 1) * (size ? SOME_SIZES : 1);
    return MANY * rows < cells.key.length ? new Rollup(cells, level, time ? this.times : 1, size) : cells;
  }
}
