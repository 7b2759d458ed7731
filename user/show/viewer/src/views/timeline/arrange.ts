// SPDX-License-Identifier: BSD-3-Clause
// How the reader has the tracks: their order, their groups, the height of each, and the folded ones.
import type { Model } from "../../data/model";
import { option, setOption } from "../../state/state";

export type Sort = "rank" | "waiting" | "bytes";
export type Rows = "auto" | "layers" | "calls" | "pixels";

export interface Arrangement {
  sort: Sort;
  group: "host" | "none";
  rows: Rows;
  folded: ReadonlySet<string>; // "h0": a host, "p1": a process by its code
}

const of = <T extends string>(name: string, words: readonly T[]): T => {
  const value = option(name, words[0]) as T;
  return words.includes(value) ? value : words[0];
};

export function arrangement(): Arrangement {
  return {
    sort: of<Sort>("timeline.sort", ["rank", "waiting", "bytes"]), group: of<"host" | "none">("timeline.group", ["host", "none"]),
    rows: of<Rows>("timeline.rows", ["auto", "layers", "calls", "pixels"]),
    folded: new Set(option("timeline.folded", "").split(".").filter(Boolean)),
  };
}

export function toggleFold(what: string) {
  const folded = new Set(arrangement().folded);
  if (!folded.delete(what)) folded.add(what);
  setOption("timeline.folded", [...folded].join("."));
}

// By process code: the waiting, or the bytes that it sent, of the whole capture.
function amounts(model: Model, sort: Sort): Map<number, number> {
  if (sort === "waiting") return new Map((model.report.time ?? []).map((row) => [row.process + 1, row.wait_ns ?? 0]));
  const out = new Map<number, number>();
  const facts = model.facts.transfers;
  const [src, kind, bytes] = [facts.column("src"), facts.column("kind"), facts.cells("bytes")];
  for (let i = 0; i < facts.key.length; i++)
    if (!kind[facts.key[i]]) out.set(src[facts.key[i]], (out.get(src[facts.key[i]]) ?? 0) + bytes[i]);
  return out;
}

export function orderBy(model: Model, sort: Sort): (a: number, b: number) => number {
  const byRank = (a: number, b: number) => (model.process(a)?.rank ?? 1e9) - (model.process(b)?.rank ?? 1e9) || a - b;
  if (sort === "rank") return byRank;
  const of = amounts(model, sort);
  return (a, b) => (of.get(b) ?? 0) - (of.get(a) ?? 0) || byRank(a, b);
}
