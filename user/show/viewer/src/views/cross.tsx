// SPDX-License-Identifier: BSD-3-Clause
// Transports against UCT operations: share of bytes, share of transfers.
import type { View } from "../data/view";
import { KIND_NOUNS, kindOf, model, none, setCodes } from "../state/state";
import { transportColour } from "../ui/colours";
import { copy, csv } from "../ui/csv";
import { bytes, count, share } from "../ui/format";

interface Sums {
  bytes: number;
  count: number;
}

function add(map: Map<number, Sums>, code: number, sums: number[]) {
  const at = map.get(code) ?? { bytes: 0, count: 0 };
  map.set(code, { bytes: at.bytes + sums[0], count: at.count + sums[1] });
}

function collect(view: View) {
  const f = model.facts.transfers;
  const cells = new Map<string, Sums>();
  const [rows, columns] = [new Map<number, Sums>(), new Map<number, Sums>()];
  const whole = { bytes: 0, count: 0 };
  for (const { codes, sums } of view.group("transfers", [f.column("transport"), f.column("op")], ["bytes", "count"])) {
    cells.set(codes.join(), { bytes: sums[0], count: sums[1] });
    add(rows, codes[0], sums);
    add(columns, codes[1], sums);
    whole.bytes += sums[0];
    whole.count += sums[1];
  }
  const order = (map: Map<number, Sums>) =>
    [...map].sort((a, b) => b[1].bytes - a[1].bytes || b[1].count - a[1].count);
  return { cells, rows: order(rows), columns: order(columns), whole };
}

export function Cross({ view }: { view: View }) {
  const { cells, rows, columns, whole } = collect(view);
  const name = (code: number) => model.names[code] ?? "unknown";
  const words = (sums: Sums | undefined) =>
    sums ? `${share(sums.bytes, whole.bytes)}, ${share(sums.count, whole.count)}` : "–";
  const title = (sums: Sums | undefined) => (sums ? `${bytes(sums.bytes)} in ${count(sums.count)} transfers` : "");
  const asCsv = () => csv([
    ["transport", "UCT operation", "bytes", "count"],
    ...[...cells].map(([id, sums]) => [...id.split(",").map((code) => name(Number(code))), sums.bytes, sums.count]),
  ]);
  const shade = (transport: string, sums: Sums) => {
    const part = whole.bytes ? sums.bytes / whole.bytes : 0;
    return `color-mix(in srgb, ${transportColour(transport)} ${Math.round(6 + 30 * Math.sqrt(part))}%, transparent)`;
  };
  const choose = (transport: number, op: number) => {
    setCodes("transport", new Set([transport]));
    setCodes("op", new Set([op]));
  };
  return (
    <section class="card table-card" id="table-cross" aria-label="Transport by UCT operation">
      <header>
        <h2>Transport by UCT operation</h2>
        <span class="soft">bytes %, count % of {bytes(whole.bytes)} in {count(whole.count)} {KIND_NOUNS[kindOf(view)][1]}</span>
        {rows.length > 0 && (
          <button type="button" class="button plain end no-print" onClick={() => void copy(asCsv())}>Copy as CSV</button>
        )}
      </header>
      {rows.length === 0 ? (
        <p class="empty">{none(KIND_NOUNS[kindOf(view)][0])}</p>
      ) : (
        <div class="scroll">
          <table class="cross">
            <thead>
              <tr>
                <th scope="col"><span class="hidden">transport</span></th>
                {columns.map(([op]) => <th scope="col" title={name(op)}>{name(op)}</th>)}
                <th scope="col">all</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(([transport, total]) => (
                <tr>
                  <th scope="row" title={name(transport)}>
                    <i class="swatch" style={{ background: transportColour(name(transport)) }} />{name(transport)}
                  </th>
                  {columns.map(([op]) => {
                    const sums = cells.get(`${transport},${op}`);
                    return (
                      <td
                        class={sums ? "some" : "nothing"} title={title(sums)}
                        style={{ background: sums ? shade(name(transport), sums) : "" }}
                        onClick={() => sums && choose(transport, op)}
                      >
                        {sums ? <button type="button" class="pick">{words(sums)}</button> : words(sums)}
                      </td>
                    );
                  })}
                  <td class="total" title={title(total)}>{words(total)}</td>
                </tr>
              ))}
              <tr>
                <th scope="row">all</th>
                {columns.map(([, total]) => <td class="total" title={title(total)}>{words(total)}</td>)}
                <td class="total" title={title(whole)}>{words(whole)}</td>
              </tr>
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
