// SPDX-License-Identifier: BSD-3-Clause
import type { Split } from "../data/pairs";
import { measure } from "../state/state";
import { transportColour } from "./colours";
import { bytes, count, share } from "./format";

const SOME = 4;

// The parts of a sum, for the tooltip.
export function Splits({ splits }: { splits: Split[] }) {
  const place = measure.value === "bytes" ? 1 : 2;
  return (
    <div class="splits">
      {splits.map(({ title, rows }) => {
        const whole = rows.reduce((sum, row) => sum + row[place], 0);
        return (
          <div>
            <h5>{title}</h5>
            {rows.slice(0, SOME).map((row) => (
              <div class="split">
                <span class="name">
                  {title === "Transport" && <i class="swatch" style={{ background: transportColour(row[0]) }} />}{row[0]}
                </span>
                <span>{bytes(row[1])}</span>
                <span class="soft">{count(row[2])}</span>
                <span class="soft">{share(row[place], whole)}</span>
              </div>
            ))}
            {rows.length > SOME && <div class="soft">and {rows.length - SOME} more</div>}
          </div>
        );
      })}
    </div>
  );
}
