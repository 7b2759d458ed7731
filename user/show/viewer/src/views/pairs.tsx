// SPDX-License-Identifier: BSD-3-Clause
// Who sent to whom, a row for each pair. There may be 100,000 of them, so a row is a position in columns.
import { Combinations, combinationsOf } from "../data/combinations";
import { useMemo } from "preact/hooks";
import type { View } from "../data/view";
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

const words = (by: Map<number, number>) => {
  const whole = [...by.values()].reduce((sum, n) => sum + n, 0);
  const list = [...by].sort((a, b) => b[1] - a[1]);
  return list.map(([name, n]) => `${model.names[name] ?? "unknown"} ${share(n, whole)}`).join(", ");
};

function add(by: Map<number, number>, transport: number, amount: number) {
  if (amount) by.set(transport, (by.get(transport) ?? 0) + amount);
}

// The transports that carried the bytes of each pair.
function transports(view: View): Map<number, string> {
  const { table, at } = view.rows("transfers");
  const [places, values] = [table.places(allPairs().transfers), table.values("bytes")];
  const code = model.facts.transfers.column("transport");
  const sums = new Map<number, Map<number, number>>();
  for (let i = 0; i < at.length; i++) {
    const row = at[i];
    let over = sums.get(places[row]);
    if (!over) sums.set(places[row], (over = new Map()));
    add(over, code[table.key[row]], values[row]);
  }
  return new Map([...sums].map(([pair, by]) => [pair, words(by)]));
}

function transportsOf(view: View, pair: number): string {
  const { table, own } = view.rowsOf("transfers", allPairs().transfers, pair);
  const [code, values] = [model.facts.transfers.column("transport"), table.values("bytes")];
  const by = new Map<number, number>();
  for (const row of own) add(by, code[table.key[row]], values[row]);
  return words(by);
}

function sumOf(view: View, sort: Sort, name: string, pair: number): number {
  const { table, own } = view.rowsOf(sort, allPairs()[sort], pair);
  const values = table.values(name);
  return own.reduce((sum, row) => sum + values[row], 0);
}

function once<T>(make: () => T): () => T {
  let made: { of: T } | null = null;
  return () => (made ??= { of: make() }).of;
}

// Sums of all pairs are made only to sort by them or to copy them; visible pairs read their own rows.
function pairsOf(view: View): { columns: Column<number>[]; rows: Uint32Array } {
  const { transfers, messages } = allPairs();
  const [src, dst] = transfers.codes;
  const { sums: [counts, amounts], met } = view.both("transfers", transfers, "count", "bytes");
  const all = once(() => transports(view));
  const who = (id: string, label: string, end: Uint32Array): Column<number> => ({
    id, label, words: true, value: (pair) => model.labels[end[pair]],
    show: (pair) => <span title={model.longLabel(end[pair])}>{brief(model.labels[end[pair]])}</span>,
  });
  const moved = (id: string, label: string, of: Float64Array, write: (n: number) => string): Column<number> =>
    ({ id, label, amounts: () => of, value: (pair) => of[pair], show: (pair) => write(of[pair]) });
  const sent = (id: string, label: string, name: string, write: (n: number) => string): Column<number> => {
    const of = once(() => view.sumsOf("messages", messages, name));
    return { id, label, amounts: of, value: (pair) => of()[pair], show: (pair) => write(sumOf(view, "messages", name, pair)) };
  };
  return {
    rows: view.met("messages", messages, met),
    columns: [
      who("src", "From", src), who("dst", "To", dst), sent("messages", "Messages", "count", count), sent("of", "of bytes", "bytes", bytes),
      moved("transfers", "Transfers", counts, count), moved("bytes", "Bytes", amounts, bytes),
      {
        id: "by", label: "By transport", words: true, value: (pair) => all().get(pair) || "-",
        show: (pair) => transportsOf(view, pair) || "-",
      },
    ],
  };
}

export function Pairs({ view }: { view: View }) {
  const { columns, rows } = useMemo(() => pairsOf(view), [view]);
  const [src, dst] = allPairs().transfers.codes;
  const only = (pair: number) => {
    setCodes("src", new Set([src[pair]]));
    setCodes("dst", new Set([dst[pair]]));
  };
  return (
    <DataTable
      id="table-pairs" title="Pairs" about="data moves from → to" columns={columns} rows={rows} sort="bytes" onRow={only}
      rowTitle="show this pair alone" note="Messages are sends matched to their receives."
    />
  );
}
