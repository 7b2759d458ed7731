// SPDX-License-Identifier: BSD-3-Clause
// Who sent to whom, a row for each pair. There may be 100,000 of them, so a row is a position in columns.
import { Combinations, combinationsOf } from "../data/combinations";
import type { View } from "../data/engine";
import { model, setCodes } from "../state/state";
import { brief, bytes, count, share } from "../ui/format";
import { Column, DataTable } from "../ui/table";

type Sort = "transfers" | "messages";

// Pairs that occur in either sort, numbered once.
let known: Record<Sort, Combinations> | null = null;

function allPairs(): Record<Sort, Combinations> {
  if (known) return known;
  const sorts: Sort[] = ["transfers", "messages"];
  const [a, b] = sorts.map((sort) => combinationsOf(["src", "dst"].map((end) => model.facts[sort].column(end))));
  const both = combinationsOf([0, 1].map((end) => Uint32Array.from([...a.codes[end], ...b.codes[end]])));
  const of = ({ of: own }: Combinations, from: number) => ({ ...both, of: own.map((at) => both.of[from + at]) });
  return (known = { transfers: of(a, 0), messages: of(b, a.length) });
}

// Pairs that anything passes the filters of.
function present(view: View): Uint32Array {
  const { transfers, messages } = allPairs();
  const seen = new Uint8Array(transfers.length);
  const out = new Uint32Array(transfers.length);
  let n = 0;
  for (const some of [view.met("transfers", transfers), view.met("messages", messages)])
    for (let i = 0; i < some.length; i++) {
      if (seen[some[i]]) continue;
      seen[some[i]] = 1;
      out[n++] = some[i];
    }
  return out.subarray(0, n);
}

// What carried the bytes of some pairs, or of all.
function transports(view: View, some: ReadonlySet<number> | null): Map<number, string> {
  const { of, length } = allPairs().transfers;
  const wanted = new Uint8Array(length).fill(some ? 0 : 1);
  for (const pair of some ?? []) wanted[pair] = 1;
  const { key, at } = view.rows("transfers");
  const values = view.values("transfers", "bytes");
  const code = model.facts.transfers.column("transport");
  const sums = new Map<number, Map<number, number>>();
  for (let i = 0; i < key.length; i++) {
    const pair = of[key[i]];
    if (!wanted[pair] || !values[at[i]]) continue;
    let by = sums.get(pair);
    if (!by) sums.set(pair, (by = new Map()));
    by.set(code[key[i]], (by.get(code[key[i]]) ?? 0) + values[at[i]]);
  }
  const words = (by: Map<number, number>) => {
    const whole = [...by.values()].reduce((sum, n) => sum + n, 0);
    const list = [...by].sort((a, b) => b[1] - a[1]);
    return list.map(([name, n]) => `${model.names[name] ?? "unknown"} ${share(n, whole)}`).join(", ");
  };
  return new Map([...sums].map(([pair, by]) => [pair, words(by)]));
}

function columnsOf(view: View): { columns: Column<number>[]; ready: (pairs: number[]) => void } {
  const { transfers, messages } = allPairs();
  const [src, dst] = transfers.codes;
  const sum = (sort: Sort, name: string) => view.sumsOf(sort, sort === "transfers" ? transfers : messages, name);
  const sums = { messages: sum("messages", "count"), of: sum("messages", "bytes"), transfers: sum("transfers", "count"), bytes: sum("transfers", "bytes") };
  let shown = new Map<number, string>();
  let all: Map<number, string> | null = null;
  const who = (id: string, label: string, end: Uint32Array): Column<number> => ({
    id, label, words: true, value: (pair) => model.labels[end[pair]],
    show: (pair) => <span title={model.longLabel(end[pair])}>{brief(model.labels[end[pair]])}</span>,
  });
  const amount = (id: keyof typeof sums, label: string, write: (n: number) => string): Column<number> =>
    ({ id, label, value: (pair) => sums[id][pair], show: (pair) => write(sums[id][pair]) });
  return {
    ready: (pairs) => (shown = transports(view, new Set(pairs))),
    columns: [
      who("src", "From", src), who("dst", "To", dst), amount("messages", "Messages", count), amount("of", "of bytes", bytes),
      amount("transfers", "Transfers", count), amount("bytes", "Bytes", bytes),
      {
        id: "by", label: "By transport", words: true, show: (pair) => shown.get(pair) ?? "-",
        value: (pair) => (all ??= transports(view, null)).get(pair) ?? "-",
      },
    ],
  };
}

export function Pairs({ view }: { view: View }) {
  const { columns, ready } = columnsOf(view);
  const [src, dst] = allPairs().transfers.codes;
  const only = (pair: number) => {
    setCodes("src", new Set([src[pair]]));
    setCodes("dst", new Set([dst[pair]]));
  };
  return (
    <DataTable
      id="table-pairs" title="Pairs" about="data moves from → to" columns={columns} rows={present(view)} sort="bytes" onRow={only}
      ready={ready} rowTitle="show this pair alone"
      note="Messages are sends matched to their receives; they have no transport, so filters on it leave these columns as they are."
    />
  );
}
