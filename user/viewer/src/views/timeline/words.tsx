// SPDX-License-Identifier: BSD-3-Clause
// An event in words, for the box under the pointer and the table below the timeline.
import type { ComponentChildren } from "preact";
import { Chain } from "../../data/chain";
import { placeTitle } from "../../data/places";
import { DEVICE, Lane, LAYER_NAMES, LAYER_SORTS, LAYERS, MPI, Timeline, UCP, UCT } from "../../data/timeline";
import { transportColour } from "../../ui/colours";
import { bytes, count, instant, share, time } from "../../ui/format";
import { Pairs } from "../../ui/tip";

const SIGNS = ["", "", "<= ", ">= "];
const FLAGS: [number, string][] = [[1, "ended with an error"], [2, "found no resource: nothing was sent"]];

export interface Words {
  layer: string;
  name: string;
  who: string;
  start: string;
  duration: string;
  bytes: string;
  how: string;
  transport: string | null;
}

const LOWER_BOUND = 3;

function durationOf({ events }: Timeline, event: number): string {
  const [precision, ns] = [events.precision[event], events.duration[event]];
  if (!precision) return "unknown";
  return precision === LOWER_BOUND && !ns ? "?" : `${SIGNS[precision] ?? "~ "}${time(ns)}`;
}

export function wordsOf(timeline: Timeline, event: number): Words {
  const { events, model } = timeline;
  const lane = timeline.lanes[events.lane[event]];
  const sort = LAYER_SORTS[lane.layer];
  const facts = model.facts[sort];
  const key = events.key[event];
  const name = (column: string) => model.names[facts.column(column)[key]];
  const peer = facts.has("peer") ? facts.column("peer")[key] : 0;
  const how: (string | null)[] = [];
  if (lane.layer === MPI) how.push(model.places[facts.column("place")[key]]?.label ?? null);
  else how.push(name("protocol"));
  if (lane.layer === UCP && name("memory")) how.push(`${name("memory")} memory`);
  if (lane.layer === UCT) how.push(`${name("transport") ?? "unknown"}/${name("device") ?? "unknown"}`);
  if (lane.layer === UCT && (name("src_mem") || name("dst_mem")))
    how.push(`${name("src_mem") ?? "unknown"} → ${name("dst_mem") ?? "unknown"} memory`);
  if (lane.layer === UCT) how.push(["", "control", "copy"][facts.column("kind")[key]] ?? "");
  if (lane.layer > MPI && peer) how.push(`with ${model.labels[peer]}`);
  if (events.count[event] > 1) how.push(`${count(events.count[event])} alike`);
  for (const [bit, words] of FLAGS) if (events.flags[event] & bit) how.push(words);
  const tid = events.thread[event] ? timeline.threads[events.thread[event] - 1] : null;
  if (tid !== null && tid !== model.process(lane.process)?.tgid) how.push(`thread ${tid}`);
  return {
    layer: LAYERS[lane.layer],
    name: name(LAYER_NAMES[lane.layer]) ?? (lane.layer === MPI ? "outside MPI" : "unknown"),
    who: model.longLabel(lane.process),
    start: instant(events.start[event], 10),
    duration: durationOf(timeline, event),
    bytes: events.bytes[event] ? bytes(events.bytes[event] - 1) : "unknown",
    how: how.filter(Boolean).join(", "),
    transport: lane.layer === UCT ? name("transport") : null,
  };
}

export function EventTip({ timeline, event, chain }: { timeline: Timeline; event: number; chain: Chain }) {
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
    ["process", own.who], ["start", own.start], ["duration", own.duration], ["bytes", own.bytes], ["how", own.how],
    ["in MPI call", brief(call)], ["called at", place ? placeTitle(place).split("\n")[0] : null],
    ["UCP operation", brief(op)],
    ["UCT transfers", carried.length > 1 ? `${count(carried.length)}` : carried.length ? brief(carried[0]) : null],
    ["other end", partner === null ? null : `${wordsOf(timeline, partner).name}, ${wordsOf(timeline, partner).who}`],
  ];
  return (
    <>
      <h4>
        {own.transport && <i class="swatch" style={{ background: transportColour(own.transport) }} />}
        {own.layer} {own.name}
      </h4>
      <Pairs rows={rows} />
      <p class="soft">Click to keep it in sight.</p>
    </>
  );
}

export interface Step {
  started: number;
  busy: number;
  width: number;
  name: string;
  share: number;
  bytes: number;
  at: number;
}

export function StepTip({ lane, step }: { lane: Lane; step: Step }) {
  return (
    <>
      <h4>{lane.layer === DEVICE ? "Device" : LAYERS[lane.layer]}: {instant(Math.max(0, step.at), step.width)} and {time(step.width)} on</h4>
      <Pairs
        rows={[
          ["started", count(step.started)], ["bytes", bytes(step.bytes)],
          ["busy", `${time(step.busy)} (${share(step.busy, step.width)})`],
          ["most of it", step.busy ? `${step.name}, at least ${Math.floor((100 * step.share) / 255)} %` : null],
        ]}
      />
      <p class="soft">A sum over this step; zoom in for more.</p>
    </>
  );
}

function Rows({ timeline, list, chosen, label, go }: {
  timeline: Timeline; list: number[]; chosen: number; label: string; go: (event: number) => void;
}) {
  return (
    <>
      {list.map((event, i) => {
        const words = wordsOf(timeline, event);
        return (
          <tr class={event === chosen ? "active chosen" : "active"} onClick={() => go(event)}>
            <td class="soft">{i === 0 ? label : ""}</td>
            <td>{words.layer}</td>
            <td>
              <button type="button" class="link" onClick={() => go(event)}>
                {words.transport && <i class="swatch" style={{ background: transportColour(words.transport) }} />}
                {words.name}
              </button>
            </td>
            <td>{words.who}</td>
            <td class="num">{words.start}</td>
            <td class="num">{words.duration}</td>
            <td class="num">{words.bytes}</td>
            <td>{words.how}</td>
          </tr>
        );
      })}
    </>
  );
}

const SHOWN = 12;

export function Details({ timeline, event, chain, go, close }: {
  timeline: Timeline; event: number; chain: Chain; go: (event: number) => void; close: () => void;
}) {
  const list = (half: typeof chain.far) =>
    half ? [half.call, half.op, ...half.transfers.slice(0, SHOWN)].filter((e): e is number => e !== null) : [];
  const hidden = Math.max(0, chain.near.transfers.length - SHOWN) + Math.max(0, (chain.far?.transfers.length ?? 0) - SHOWN);
  const isOp = chain.near.op !== null;
  return (
    <section class="card details" aria-label="Chosen operation" aria-live="polite">
      <header>
        <h2>Through the layers</h2>
        <span class="soft">
          {!isOp ? "no UCP operation is known of it" : chain.far ? "" : "its other end is not known, or is not kept"}
        </span>
        <button type="button" class="button plain end" onClick={close}>Close</button>
      </header>
      <div class="scroll">
        <table class="data">
          <thead>
            <tr>
              {["End", "Layer", "What", "Process", "Start", "Duration", "Bytes", "How"].map((head, i) => (
                <th scope="col" class={i >= 4 && i <= 6 ? "num" : ""}><span class="head">{head}</span></th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Rows timeline={timeline} list={list(chain.near)} chosen={event} label="this end" go={go} />
            <Rows timeline={timeline} list={chain.more.slice(0, SHOWN)} chosen={event} label="also" go={go} />
            <Rows timeline={timeline} list={list(chain.far)} chosen={event} label="other end" go={go} />
          </tbody>
        </table>
      </div>
      {(hidden > 0 || chain.more.length > SHOWN) && (
        <p class="note">
          Not listed: {count(hidden)} transfers, {count(Math.max(0, chain.more.length - SHOWN))} operations.
        </p>
      )}
    </section>
  );
}
