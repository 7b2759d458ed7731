// SPDX-License-Identifier: BSD-3-Clause
// The reader's choices as conditions: a fact must meet each one, that is, all terms of one of its alternatives.
import { UNKNOWN } from "./causes";
import type { Dim } from "./dims";
import type { Engine } from "./engine";
import type { Sort } from "./model";

export type Wanted = ReadonlyMap<string, ReadonlySet<number>>; // dimension → codes

export interface Term {
  column: Uint32Array; // of the facts
  mask: Uint8Array; // by code: 1 is wanted
}

export type Condition = Term[][];

export function maskOf(dim: Dim, codes: ReadonlySet<number> | undefined): Uint8Array {
  const mask = new Uint8Array(dim.values.length).fill(codes?.size ? 0 : 1);
  for (const code of codes ?? []) if (code < mask.length) mask[code] = 1;
  return mask;
}

// By key: how many conditions it fails.
export function failures(keys: number, conditions: Condition[], column: (of: Uint32Array) => Uint32Array): Uint8Array {
  const fails = new Uint8Array(keys);
  for (const condition of conditions) {
    const holds = new Uint8Array(keys);
    for (const terms of condition) {
      const [first, ...more] = terms.map((term) => ({ codes: column(term.column), mask: term.mask }));
      if (!more.length) for (let i = 0; i < keys; i++) holds[i] |= first.mask[first.codes[i]];
      else for (let i = 0; i < keys; i++) holds[i] |= Number(first.mask[first.codes[i]] && more.every(({ codes, mask }) => mask[codes[i]]));
    }
    for (let i = 0; i < keys; i++) fails[i] += 1 - holds[i];
  }
  return fails;
}

export class Conditions {
  private dims: { dim: Dim; mask: Uint8Array }[];
  private made = new Map<Sort, Condition[]>();
  // Filters that also select the causes of the facts that have such a field. Kind is not among them: it only narrows filters on transfers.
  readonly causal: Dim[];
  readonly ofTransfers: boolean; // one of these is on what transfers alone have

  constructor(private engine: Engine, wanted: Wanted) {
    this.dims = [...wanted].filter(([, codes]) => codes.size).map(([id, codes]) => ({ dim: engine.dim(id), mask: maskOf(engine.dim(id), codes) }));
    this.causal = this.dims.map(({ dim }) => dim).filter(({ id, caused }) => caused && id !== "kind");
    this.ofTransfers = this.causal.some(({ columns }) => !columns.ops);
  }

  // Whether facts pass by their sets of causes: also where they have the field themselves, as an operation its protocol.
  upward(sort: Sort): boolean {
    if (sort === "transfers") return false;
    return this.causal.some(({ id, columns }) => (sort === "messages" ? !columns.messages : id !== "function"));
  }

  // Whether a filter is on what calls do not have.
  get below(): boolean {
    return this.causal.some(({ columns }) => !columns.calls);
  }

  of(sort: Sort): Condition[] {
    let conditions = this.made.get(sort);
    if (!conditions) this.made.set(sort, (conditions = this.upward(sort) ? this.byCauses(sort) : this.own(sort)));
    return conditions;
  }

  private own(sort: Sort, which: (dim: Dim) => boolean = () => true): Condition[] {
    return this.dims.filter(({ dim }) => dim.columns[sort] && which(dim))
      .map(({ dim, mask }) => dim.columns[sort]!.map((column) => [{ column, mask }]));
  }

  // Which kinds pass: those of the fact's own process, or of another. Filters on transfers pass no operation by itself.
  private kinds(other: boolean): Uint8Array {
    const { causes } = this.engine.model;
    const process = causes.column("process");
    const out = causes.layer.map((of, i) => Number((of || !this.ofTransfers) && process[i] > 0 === other));
    const also = other ? this.masks(process) : [];
    const terms = this.dims.filter(({ dim }) => dim.caused && (this.ofTransfers || dim.id !== "kind"))
      .map(({ dim, mask }) => dim.caused!.map((column) => [{ column, mask }]));
    const fails = failures(causes.kinds, [...terms, ...also], (column) => column);
    return Uint8Array.from(out, (of, i) => of & Number(!fails[i]));
  }

  // What is demanded of a process.
  private masks(process: Uint32Array): Condition[] {
    const { model } = this.engine;
    return this.dims.filter(({ dim }) => dim.id === "process" || dim.id === "host")
      .map(({ dim, mask }) => [[{ column: dim.id === "host" ? model.hostsOf(process) : process, mask }]]);
  }

  // As in user/show/report/filter.c. A transfer may have been made by another process for an operation.
  private byCauses(sort: Sort): Condition[] {
    const { model } = this.engine;
    const { causes } = model;
    const facts = model.facts[sort];
    const [own, others] = [false, true].map((other) => causes.having(this.kinds(other)));
    const unknown = Uint8Array.from(own, (_, code) => Number(code === UNKNOWN));
    const caused = (codes: string, process: string): Condition => [
      [{ column: facts.column(codes), mask: own }, ...this.masks(facts.column(process)).map(([[term]]) => term)],
      [{ column: facts.column(codes), mask: others }],
    ];
    if (sort === "messages")
      return [...this.own(sort), [...caused("causes", "src"), ...caused("recv_causes", "dst"), [{ column: facts.column("causes"), mask: unknown }]]];
    const itself = this.own(sort).map(([[term]]) => term); // one column each
    const byItself = sort === "calls" && !this.below ? [itself] : [[{ column: facts.column("causes"), mask: unknown }, ...itself]];
    return [[...caused("causes", "process"), ...byItself]];
  }
}
