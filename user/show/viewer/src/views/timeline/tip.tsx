// SPDX-License-Identifier: BSD-3-Clause
// The box under the pointer: the event there, else the step of a level, else how long nothing runs.
import type { ComponentChildren } from "preact";
import { Chain, chainOf } from "../../data/chain";
import { placeTitle } from "../../data/places";
import { openWords } from "../../data/waits";
import { DEVICE, Lane, LAYERS, Level, MPI, Timeline } from "../../data/timeline";
import { transportColour } from "../../ui/colours";
import { bytes, count, instant, share, time } from "../../ui/format";
import { Pairs } from "../../ui/tip";
import { gapAt, stepAt } from "./hit";
import type { PlacedLane } from "./layout";
import type { Means } from "./means";
import { Look, nsOf } from "./scene";
import { wordsOf } from "./words";

function EventTip({ timeline, event, chain }: { timeline: Timeline; event: number; chain: Chain }) {
  const own = wordsOf(timeline, event);
  const { call, op, transfers } = chain.near;
  const brief = (other: number | null) => {
    if (other === null || other === event) return null;
    const words = wordsOf(timeline, other);
    return `${words.name}, ${words.duration}`;
  };
  const partner = chain.far?.op ?? null;
  const carried = transfers.filter((transfer) => transfer !== event);
  const place = call !== null
    ? timeline.model.places[timeline.model.facts.calls.column("place")[timeline.events.key[call]]] : null;
  const rows: [string, ComponentChildren][] = [
    ["process", own.who], ["waited", own.held], ["not returned", own.open], ["start", own.start], ["duration", own.duration], ["bytes", own.bytes], ["how", own.how],
    ["in MPI call", brief(call)], ["called at", place ? placeTitle(place).split("\n")[0] : null],
    ["UCP operation", brief(op)],
    ["UCT transfers", carried.length > 1 ? `${count(carried.length)}` : carried.length ? brief(carried[0]) : null],
    ["other end", partner === null ? null : `${wordsOf(timeline, partner).name}, ${wordsOf(timeline, partner).who}`],
  ];
  return (
    <>
      <h4>
        {own.transport && <i class="swatch" style={{ background: transportColour(own.transport) }} />}
        {call === event ? own.name : `${own.layer} ${own.name}`}
      </h4>
      <Pairs rows={rows} />
      <p class="soft">Click to keep it in sight.</p>
    </>
  );
}

function StepTip({ timeline, lane, level, row }: { timeline: Timeline; lane: Lane; level: Level; row: number }) {
  const { columns, bucket: width } = level;
  const at = Math.max(0, (level.zero.get(lane.host) ?? 0) + columns.bucket[row] * width);
  const busy = columns.busy[row];
  const name = timeline.model.names[columns.name[row]] ?? "unknown";
  return (
    <>
      <h4>{lane.layer === DEVICE ? "Device" : LAYERS[lane.layer]}: {instant(at, width)} and {time(width)} on</h4>
      <Pairs
        rows={[
          ["process", lane.process ? timeline.model.longLabel(lane.process) : null],
          ["started", count(columns.started[row])], ["bytes", bytes(columns.bytes[row])],
          ["busy", `${time(busy)} (${share(busy, width)})`],
          ["waiting for others", columns.waited[row] ? `${time(columns.waited[row])} (${share(columns.waited[row], busy)} of that)` : null],
          ["most of it", busy ? `${name}, at least ${Math.floor((100 * columns.share[row]) / 255)} %` : null],
        ]}
      />
      <p class="soft">A sum over this step; zoom in for more.</p>
    </>
  );
}

// event: the one at that place, where single ones are shown. Null: there is nothing to say.
export function tipAt(timeline: Timeline, { mode, level }: Means, look: Look, { lane, label }: PlacedLane, event: number | null, x: number) {
  if (event !== null) return <EventTip timeline={timeline} event={event} chain={chainOf(timeline, event)} />;
  const row = level && mode !== "events" ? stepAt(timeline, level, lane, look, x) : null;
  if (row !== null) return <StepTip timeline={timeline} lane={lane} level={level!} row={row} />;
  const held = timeline.open.find((one) => one.process === lane.process && nsOf(look, x) >= one.from && nsOf(look, x) <= one.to);
  if (held && lane.layer === MPI) return <p>{openWords(timeline.model, held.open)}</p>;
  const gap = mode === "events" ? gapAt(timeline, lane, look, x) : null;
  const whose = lane.process && !label ? `${timeline.model.longLabel(lane.process)}: ` : ""; // rows of pixels have no names beside them
  if (gap === null) return whose ? <p>{whose}nothing here</p> : null;
  return <p>{whose}nothing here for {time(gap)}</p>;
}
