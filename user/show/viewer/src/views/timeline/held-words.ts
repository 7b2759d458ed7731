// SPDX-License-Identifier: BSD-3-Clause
// Words about a call that was held up: whom it waited for, and that it has not returned.
import { covered, waitsOf } from "../../data/held";
import { MPI, Timeline } from "../../data/timeline";
import { kindWords, openWords, who } from "../../data/waits";
import { plural, time } from "../../ui/format";

const LISTED = 3; // kinds of a call's waits

// "1.20 ms: late sender, rank 3 (computing)"; null: it did not wait, as far as is known.
export function waitWords(timeline: Timeline, event: number): string | null {
  const { events, lanes, waits, model } = timeline;
  const { process, layer } = lanes[events.lane[event]];
  if (layer !== MPI) return null;
  const from = events.start[event];
  const rows = waitsOf(waits, process, event, from, from + events.duration[event]);
  if (!rows.length) return null;
  const words = new Map<string, number>();
  for (const at of rows) {
    const did = model.names[waits.did[at]];
    const text = `${kindWords(model.names[waits.kind[at]] ?? "unknown")}, ${who(model, waits.culprit[at] ? waits.culprit[at] - 1 : null)}${did ? ` (${did})` : ""}`;
    words.set(text, (words.get(text) ?? 0) + waits.duration[at]);
  }
  const sorted = [...words].sort((a, b) => b[1] - a[1]).map(([text]) => text);
  const more = sorted.length > LISTED ? [`and ${plural(sorted.length - LISTED, "more")}`] : [];
  return `${time(covered(waits, rows, from, Infinity))}: ${[...sorted.slice(0, LISTED), ...more].join(", ")}`;
}

export function openOf({ events, lanes, open, model }: Timeline, event: number): string | null {
  const { process, layer } = lanes[events.lane[event]];
  const found = layer === MPI && open.find((held) => held.process === process && held.from === events.start[event]);
  return found ? openWords(model, found.open) : null;
}
