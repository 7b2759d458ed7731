// SPDX-License-Identifier: BSD-3-Clause
// Waits as rows: those of the report, or sums of single waits where filters are on what the report's rows do not have.
import type { Wait } from "./directory";
import type { Model } from "./model";
import { eventSize, inRange } from "./slowest";
import type { Timeline } from "./timeline";
import type { View } from "./view";
import { beyondRows, passes } from "./waits";

const DID = { computing: "computing_ns", communicating: "communicating_ns", waiting: "waiting_ns" } as const;

// Every wait that the report knows is there by itself, and its call.
export function hasAllWaits(model: Model): boolean {
  const { kept, of } = model.directory.timeline.events;
  const counted = (model.report.waits ?? []).reduce((sum, row) => sum + row.count, 0);
  const section = model.directory.sections.find(({ name }) => name === "waits");
  return kept === of && section?.columns?.some(({ name, length }) => name === "fresh" && length === counted) === true;
}

function add(row: Wait, ns: number, fresh: number, uncertainty: number, did: string | null) {
  row.count++;
  row.sum_ns += ns;
  row.fresh_ns += fresh;
  row.max_ns = Math.max(row.max_ns, ns);
  row.uncertainty_ns += uncertainty;
  if (did) row[DID[did as keyof typeof DID]] += ns;
}

function singleRows(model: Model, view: View, { waits, events }: Timeline): Wait[] {
  const { calls } = model.facts;
  const { names, places } = model;
  const fails = view.filter.fails("calls");
  const { sizes } = view.selection;
  const out = new Map<string, Wait>();
  const process = (code: number) => (code ? code - 1 : null);
  for (let i = 0; i < waits.length; i++) {
    const call = waits.call[i] - 1;
    const key = events.key[call];
    if (fails[key] || (sizes.size && !sizes.has(eventSize(events, call)))) continue;
    if (!inRange(view, model.hostOf(waits.process[i]) - 1, waits.own[i])) continue;
    const [name, place] = ["function", "place"].map((column) => calls.column(column)[key]);
    const id = [waits.kind[i], waits.process[i], name, place, waits.culprit[i], waits.function[i], waits.place[i]].join();
    let row = out.get(id);
    if (!row) {
      const culprit = process(waits.culprit[i]);
      row = {
        kind: names[waits.kind[i]]!, function: names[name]!, process: waits.process[i] - 1, rank: model.process(waits.process[i])?.rank ?? null,
        call_site: places[place]?.label ?? null, culprit, culprit_function: names[waits.function[i]], culprit_call_site: places[waits.place[i]]?.label ?? null,
        count: 0, sum_ns: 0, fresh_ns: 0, max_ns: 0, uncertainty_ns: 0, computing_ns: 0, communicating_ns: 0, waiting_ns: 0,
      };
      out.set(id, row);
    }
    add(row, waits.ns[i], waits.fresh[i], waits.uncertainty[i], names[waits.did[i]]);
  }
  return [...out.values()];
}

export interface WaitRows {
  rows: Wait[];
  beyond: string[]; // filters that the rows have no field for, and so all pass
}

// timeline: null: not decoded.
export function waitRows(model: Model, view: View, timeline: Timeline | null): WaitRows {
  const beyond = beyondRows(view);
  if (beyond.length && timeline && hasAllWaits(model)) return { rows: singleRows(model, view, timeline), beyond: [] };
  return { rows: (model.report.waits ?? []).filter((row) => passes(model, view, row)), beyond };
}
