// SPDX-License-Identifier: BSD-3-Clause
// A table that can be sorted by each column and copied as CSV, all digits.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { brief, count } from "./format";
import { Cell, copy, csv } from "./csv";

export interface Column<Row> {
  id: string;
  label: string;
  title?: string;
  value: (row: Row) => Cell; // to sort by, and in the CSV
  show?: (row: Row) => ComponentChildren;
  words?: boolean; // left-aligned
  amounts?: () => Float64Array; // the values, where rows are positions in it: quicker to sort by
}

interface Props<Row> {
  id: string;
  title: string;
  about?: ComponentChildren;
  columns: Column<Row>[];
  rows: ArrayLike<Row>;
  sort: string; // column that is sorted by at first, largest first
  limit?: number;
  note?: ComponentChildren;
  empty?: string;
  onRow?: (row: Row) => void;
  rowTitle?: string;
}

const AT_ONCE = 25;

function show(cell: Cell): ComponentChildren {
  const words = typeof cell === "string" ? brief(cell) : cell;
  return words === cell ? words : <span title={`${cell}`}>{words}</span>;
}

const words = new Intl.Collator("en", { numeric: true });

function compare(a: Cell, b: Cell): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return words.compare(`${a}`, `${b}`);
}

type Amounts = { of: Float64Array; down: boolean };

// As sorting all and taking the first, without sorting all.
function firstOf<Row>(rows: ArrayLike<Row>, most: number, before: (a: Row, b: Row) => number, amounts: Amounts | null): Row[] {
  if (rows.length <= 4 * most) return Array.from(rows).sort(before).slice(0, most);
  const out = Array.from({ length: most }, (_, i) => rows[i]).sort(before);
  const places = rows as unknown as ArrayLike<number>;
  for (let i = most; i < rows.length; i++) {
    if (amounts) {
      const [own, last] = [amounts.of[places[i]], amounts.of[out[most - 1] as number]];
      if (amounts.down ? own <= last : own >= last) continue;
    } else if (before(rows[i], out[most - 1]) >= 0) continue;
    let [low, high] = [0, most - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (before(rows[i], out[middle]) < 0) high = middle;
      else low = middle + 1;
    }
    out.pop();
    out.splice(low, 0, rows[i]);
  }
  return out;
}

function Copy({ text }: { text: () => string }) {
  const [said, say] = useState("");
  const run = async () => {
    say((await copy(text())) ? "Copied" : "Not allowed here");
    setTimeout(() => say(""), 1500);
  };
  return (
    <button type="button" class="button plain end no-print" onClick={run} aria-live="polite">
      {said || "Copy as CSV"}
    </button>
  );
}

export function DataTable<Row>(props: Props<Row>) {
  const { columns, rows } = props;
  const first = columns.find((column) => column.id === props.sort) ?? columns[0];
  const [order, setOrder] = useState({ id: first.id, down: !first.words });
  const [shown, setShown] = useState(props.limit ?? AT_ONCE);
  const by = columns.find((column) => column.id === order.id) ?? first;
  const before = (a: Row, b: Row) => (order.down ? -1 : 1) * compare(by.value(a), by.value(b));
  const visible = firstOf(rows, shown, before, by.amounts ? { of: by.amounts(), down: order.down } : null);
  const text = () => {
    const sorted = Array.from(rows).sort(before);
    return csv([columns.map((c) => c.label), ...sorted.map((row) => columns.map((c) => c.value(row)))]);
  };
  const turn = (column: Column<Row>) =>
    setOrder({ id: column.id, down: column.id === by.id ? !order.down : !column.words });
  const direction = (column: Column<Row>) =>
    column.id === by.id ? (order.down ? "descending" : "ascending") : "none";
  const written = (column: Column<Row>, row: Row) => (column.show ? column.show(row) : show(column.value(row)));
  // By keys what a click on the row does, which it is as well.
  const pick = (column: Column<Row>, row: Row) =>
    props.onRow ? <button type="button" class="pick">{written(column, row)}</button> : written(column, row);
  return (
    <section class="card table-card" id={props.id} aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        {props.about && <span class="soft">{props.about}</span>}
        {rows.length > 0 && <Copy text={text} />}
      </header>
      {rows.length === 0 ? (
        <p class="empty">{props.empty ?? "Nothing passes the filters."}</p>
      ) : (
        <div class="scroll">
          <table class="data">
            <thead>
              <tr>
                {columns.map((column) => (
                  <th scope="col" class={column.words ? "" : "num"} aria-sort={direction(column)}>
                    <button type="button" title={column.title} onClick={() => turn(column)}>{column.label}</button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {visible.map((row) => (
                <tr
                  class={props.onRow ? "active" : ""}
                  title={props.rowTitle}
                  onClick={props.onRow && (() => props.onRow!(row))}
                >
                  {columns.map((column, i) => <td class={column.words ? "" : "num"}>{i ? written(column, row) : pick(column, row)}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > shown && (
        <p class="note">
          {count(shown)} of {count(rows.length)} rows.{" "}
          <button type="button" class="button plain" onClick={() => setShown(shown + 500)}>Show more</button>
        </p>
      )}
      {props.note && <p class="note">{props.note}</p>}
    </section>
  );
}
