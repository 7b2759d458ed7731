// SPDX-License-Identifier: BSD-3-Clause
// The tables of each type of fact, and their dimensions for filters.
import type { Dim } from "./dims";
import { Model, Sort, SORTS } from "./model";
import { Tables } from "./tables";

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
    if (sort === "transfers") few.push(...this.dim("memories").columns.transfers!);
    const more = ENDS[sort].map((name) => facts.column(name)).map((column) => [column, model.hostsOf(column)]);
    if (facts.has("causes")) more.unshift(["causes", "recv_causes"].filter((name) => facts.has(name)).map((name) => facts.column(name)));
    if (facts.has("src")) more.push(["src", "dst"].map((end) => model.hostsOf(facts.column(end))));
    if (sort === "calls") more.push([facts.column("place")]);
    return new Tables(facts, few, more, model.directory.time.buckets + 1);
  }

  // Makes the tables that the first filter by a process, a time or a size needs, one at each step.
  *ahead(): Generator<void> {
    for (const sort of SORTS) {
      const ends = ENDS[sort].map((name) => this.model.facts[sort].column(name));
      for (const columns of [[], ...ends.map((end) => [end]), ends, this.all[sort]])
        for (const [time, size] of [[false, false], [true, false], [false, true]]) {
          const table = this.tables[sort].pick(columns, time, size);
          for (const measure of ["count", "bytes"]) table.values(measure);
          yield;
        }
    }
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
