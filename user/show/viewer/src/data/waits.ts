// SPDX-License-Identifier: BSD-3-Clause
// MPI calls that wait for another process, or have not returned: rows of the report and sentences about them.
import type { Open, WaitRoot } from "./directory";
import { recorded } from "./layers";
import type { Model } from "./model";
import type { View } from "./view";
import type { Sentence } from "./verdict";
import { NOTICED } from "./held";
import { count, plural, share, time } from "../ui/format";

// The words of the text report (user/show/report/text_waits.c).
const KINDS: Record<string, string> = {
  late_sender: "late sender", late_receiver: "late receiver", late_progress: "late progress", wait_at_barrier: "at barrier",
  wait_at_nxn: "at N x N", late_broadcast: "late broadcast", early_reduce: "early reduce", out_of_resources: "out of resources",
};

export const kindWords = (kind: string) => KINDS[kind] ?? kind;

interface Caller {
  process: number | null;
  function: string | null;
  call_site: string | null;
}

const FIELDS: Record<string, (model: Model, row: Caller) => string | number> = {
  process: (_, row) => (row.process ?? -1) + 1,
  host: (model, row) => model.hostOf((row.process ?? -1) + 1),
  function: (model, row) => row.function ?? model.outside,
  "call-site": (_, row) => row.call_site ?? "none or unknown",
};

// Whether a call of the report's rows passes the filters that calls have, as `replay` filters these rows.
export function passes(model: Model, view: View, row: Caller): boolean {
  for (const [id, codes] of view.selection.wanted) {
    const value = FIELDS[id]?.(model, row);
    if (value === undefined) continue;
    const { values } = view.engine.dim(id);
    if (![...codes].some((code) => (typeof value === "number" ? code === value : values[code] === value))) return false;
  }
  return true;
}

// The filters in force that such rows do not have.
export function beyondRows(view: View): string[] {
  const { range, sizes } = view.selection;
  const { causal } = view.filter.conditions;
  const out = causal.filter(({ columns }) => !columns.calls).map(({ label }) => label.toLowerCase());
  return [...out, ...(range ? ["time"] : []), ...(sizes.size ? ["size"] : [])];
}

// Whether it was open in the chosen time.
function openWithin(model: Model, view: View, row: Open): boolean {
  const { range } = view.selection;
  const host = model.directory.time.hosts.find((time) => time.host === model.hostOf((row.process ?? -1) + 1) - 1);
  if (!range || !host) return !range;
  const [from, to] = [range.from, range.to].map((at) => host.zero_ns + at * model.directory.time.bucket_ns);
  return row.since_ns < to && row.since_ns + row.age_ns > from;
}

export function openCalls(model: Model, view: View): Open[] {
  const ops = view.selection.wanted.get("ucp-op");
  const { values } = view.engine.dim("ucp-op");
  return (model.report.open ?? []).filter((row) =>
    passes(model, view, row) && openWithin(model, view, row) && (!ops?.size || [...ops].some((code) => values[code] === row.op)));
}

export function who(model: Model, process: number | null): string {
  if (process === null) return "unknown";
  const label = model.labels[process + 1];
  return model.process(process + 1)?.rank === null ? label : `rank ${label}`;
}

export function openWords(model: Model, open: Open): string {
  const age = open.bound ? `≥ ${time(open.age_ns)} (began before the trace)` : time(open.age_ns);
  const parts = [`${who(model, open.process)} ${open.certain ? "in" : "perhaps still in"} ${open.function} for ${age}`];
  const perhaps = open.peer_certain === false && (open.peer_rank !== null || open.tag !== null) ? "perhaps " : "";
  if (open.peer_rank !== null) parts.push(`${perhaps}${/recv/.test(open.op ?? "") ? "from" : "to"} rank ${open.peer_rank}`);
  if (open.tag !== null) parts.push(`${open.peer_rank === null ? perhaps : ""}tag ${open.tag}`);
  if (open.call_site) parts.push(`at ${open.call_site}`);
  return parts.join(", ");
}

const LISTED = 4;

// As the text report begins.
export function aboutOpen(model: Model, view: View): Sentence[] {
  const open = openCalls(model, view).filter((row) => row.age_ns >= NOTICED);
  const certain = open.filter((row) => row.certain).length;
  const those = certain || open.length;
  if (!open.length) return [];
  const rows = open.slice(0, LISTED).map((row) => openWords(model, row));
  if (open.length > LISTED) rows.push(`and ${count(open.length - LISTED)} more`);
  return [{ text: `${plural(those, "rank")} ${certain > 1 ? "wait" : certain ? "waits" : "may wait"}: ${rows.join("; ")}.`, tone: "warn" }];
}

// The time of calls that pass the filters, and the waiting in it.
export function aboutWaiting(model: Model, view: View): Sentence[] {
  const f = model.facts.calls;
  const rows = view.group("calls", [f.column("function")], ["time_sum", "waited", "precision"]);
  const [inMpi, waited] = [0, 1].map((at) => rows.reduce((sum, row) => sum + row.sums[at], 0));
  if (!waited) return [];
  const partly = recorded(model.report, "uct") === "partly";
  const bound = rows.some((row) => row.sums[2] & 8) ? "at least " : "";
  const top = rows.reduce((best, row) => (row.sums[1] > best.sums[1] ? row : best));
  const name = model.names[top.codes[0]] ?? "calls outside MPI";
  return [{
    text: `MPI calls waited ${partly ? "at least " : ""}${time(waited)} for other processes, ` +
      `${partly ? "" : `${share(waited, inMpi)} `}of ${bound}${time(inMpi)} in MPI; ` +
      `${share(top.sums[1], waited)} of the waiting was in ${name}.`,
    tone: "plain",
  }];
}

export function rootWords(model: Model, { process, function: name, call_site, did }: WaitRoot): string {
  if (process === null) return "not known";
  const place = call_site ? ` at ${call_site}` : "";
  if (!did && !name) return `${who(model, process)}, call not known${place}`;
  return `${who(model, process)}, ${did ?? "state unknown"} before ${name ?? "an unknown call"}${place}`;
}

// The process that caused most of it in the end: of the whole capture, as chains of waits leave what a filter shows.
export function aboutCauses(model: Model, view: View): Sentence[] {
  const roots = model.report.wait_roots ?? [];
  if (!roots.length || [...view.selection.wanted.keys()].some((id) => FIELDS[id]) || beyondRows(view).length) return [];
  const whole = roots.reduce((sum, row) => sum + row.fresh_ns, 0);
  const by = new Map<number | null, number>();
  for (const row of roots) by.set(row.process, (by.get(row.process) ?? 0) + row.fresh_ns);
  const [process, ns] = [...by].reduce((best, row) => (row[1] > best[1] ? row : best));
  if (!whole) return [];
  if (process === null) return [{ text: `The cause of ${share(ns, whole)} of the waiting (${time(ns)}) is not known.`, tone: "plain" }];
  return [{
    text: `${who(model, process).replace(/^r/, "R")} caused ${share(ns, whole)} of the waiting in the end (${time(ns)}); most at one place: ` +
      `${rootWords(model, roots[0])}, ${time(roots[0].fresh_ns)} in ${plural(roots[0].count, "wait")}.`,
    tone: "plain",
  }];
}
