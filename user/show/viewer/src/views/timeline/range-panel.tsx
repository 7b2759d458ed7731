// SPDX-License-Identifier: BSD-3-Clause
// Beside the tracks: statistics of the chosen time.
import { useMemo } from "preact/hooks";
import { Part, rangeStats } from "../../data/range-stats";
import type { Timeline } from "../../data/timeline";
import { model, range } from "../../state/state";
import { bytes, count, instant, plural, share, time } from "../../ui/format";
import { Pairs } from "../../ui/tip";
import { MOST as MOST_ARROWS } from "./arrows";
import { chosenTime } from "./chosen";
import type { Layout } from "./layout";
import { useTimelineFilter } from "./painting";

const SHOWN = 10;

function Rows({ head, rows, id }: { head: string; rows: [string, Part][]; id: string }) {
  if (!rows.length) return null;
  return (
    <table class="data" id={id}>
      <thead>
        <tr>
          <th scope="col"><span class="head">{head}</span></th>
          {["Time", "Waiting"].map((word) => <th scope="col" class="num"><span class="head">{word}</span></th>)}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, SHOWN).map(([name, part]) => (
          <tr title={part.calls ? plural(part.calls, "call") : undefined}>
            <td>{name}</td><td class="num">{time(part.time)}</td><td class="num">{time(part.waited)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function RangePanel({ timeline, layout }: { timeline: Timeline; layout: Layout }) {
  const filter = useTimelineFilter();
  const at = chosenTime(timeline)!;
  const stats = useMemo(
    () => rangeStats(timeline, [...new Set(layout.tracks.flatMap((track) => track.counted))], at, filter), [timeline, layout, range.value, filter]);
  const { from, to } = at(layout.tracks[0]?.host ?? 0);
  const sum = (pick: (part: Part) => number) => [...stats.processes.values()].reduce((all, part) => all + pick(part), 0);
  const [inMpi, waited] = [sum((part) => part.time), sum((part) => part.waited)];
  const sorted = (map: Map<number, Part>, name: (code: number) => string): [string, Part][] =>
    [...map].sort((a, b) => b[1].time - a[1].time).map(([code, part]) => [name(code), part]);
  return (
    <section class="card details" id="range-stats" aria-label="Chosen time" aria-live="polite">
      <header>
        <h2>Chosen time</h2>
        <button type="button" class="button plain end" onClick={() => (range.value = null)}>Close</button>
      </header>
      <Pairs
        rows={[
          ["from", instant(from, (to - from) / 100)], ["length", time(to - from)],
          ["in MPI", `${time(inMpi)}, ${share(inMpi, stats.span)} of ${plural(stats.processes.size, "process", "processes")}`],
          ["waiting", `${time(waited)}, ${share(waited, inMpi)} of that`],
          ["data transfers", stats.exact ? `${count(stats.transfers)}, ${bytes(stats.bytes)}` : null],
        ]}
      />
      {!stats.exact && <p class="note">Not all single events are kept: these are sums over steps of {time(stats.step)}, without functions and filters.</p>}
      <Rows head="MPI function" id="range-functions" rows={sorted(stats.functions, (code) => model.names[code] ?? model.outside)} />
      <Rows head="Rank" id="range-ranks" rows={sorted(stats.processes, (code) => model.labels[code])} />
      <p class="note">The lines are messages sent in this time, at most {count(MOST_ARROWS)}.</p>
    </section>
  );
}
