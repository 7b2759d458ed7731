// SPDX-License-Identifier: BSD-3-Clause
// Where the time went: calls that have not returned, the time of each process and function, waits and who caused them.
import { computed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { behindNames, behindWhere, looked, mutual } from "../data/behind";
import type { Behind, FunctionDurations, Open, PathTimes, Wait, WaitRoot } from "../data/directory";
import { amount, recorded, withoutTransfers } from "../data/layers";
import { precisionWord, signedTime, tellsNothing } from "../data/precision";
import { functionTimes, FunctionTime, OwnTime, processTimes } from "../data/times";
import type { View } from "../data/view";
import { hasAllWaits, waitRows } from "../data/wait-rows";
import { beyondRows, kindWords, openCalls } from "../data/waits";
import { current, model, none, setCodes } from "../state/state";
import { lookAt, timeline, wantTimeline } from "../state/timeline";
import { mpiColour, waitingColour } from "../ui/colours";
import { count, instant, share, time } from "../ui/format";
import { Column, DataTable } from "../ui/table";
import { Turn } from "../ui/turns";

interface Props {
  view: View;
}

const site = (label: string | null) => <code title={label ?? ""}>{label ?? "unknown"}</code>;
const rank = (process: number | null) => (process === null ? "unknown" : model.labels[process + 1]);

const OPEN: Column<Open>[] = [
  { id: "age", label: "Open for", value: (r) => r.age_ns, show: (r) => (r.bound ? `≥ ${time(r.age_ns)}` : time(r.age_ns)) },
  { id: "rank", label: "Rank", words: true, value: (r) => rank(r.process) },
  { id: "certain", label: "Returned", words: true, value: (r) => (r.certain ? "no" : "perhaps") },
  { id: "function", label: "MPI function", words: true, value: (r) => r.function },
  { id: "op", label: "Waits for", words: true, value: (r) => r.op ?? "unknown" },
  { id: "peer", label: "With rank", words: true, value: (r) => r.peer_rank ?? "any or unknown" },
  { id: "tag", label: "Tag", value: (r) => r.tag, show: (r) => (r.tag === null ? "-" : count(r.tag)) },
  { id: "site", label: "Call site", words: true, value: (r) => r.call_site, show: (r) => site(r.call_site) },
  { id: "since", label: "Since", value: (r) => r.since_ns, show: (r) => (r.bound ? "before the trace" : instant(r.since_ns, 1e5)) },
];

const stateOf = (row: Behind) => (looked(row) ? row.state ?? "unknown" : null);

const BEHIND: Column<Behind>[] = [
  { id: "waiting", label: "Ranks that wait", title: "for it, or for them, through others too", value: (r) => r.waiting, show: (r) => count(r.waiting) },
  { id: "who", label: "Who", words: true, value: (r) => behindNames(model, r) },
  { id: "certain", label: "Behind", words: true, value: (r) => (mutual(r) ? `${r.certain ? "" : "perhaps "}each other` : r.certain ? "yes" : "perhaps") },
  { id: "entered", label: "Not entered", words: true, value: (r) => r.not_entered, show: (r) => r.not_entered ?? "-" },
  { id: "state", label: "State", words: true, value: stateOf, show: (r) => stateOf(r) ?? "-" },
  { id: "where", label: "Where", words: true, value: (r) => (mutual(r) ? null : behindWhere(r)), show: (r) => (mutual(r) ? "-" : behindWhere(r)) },
  { id: "site", label: "Call site", words: true, value: (r) => r.call_site, show: (r) => (r.call_site ? site(r.call_site) : "-") },
];

function WhoIsBehind() {
  return (
    <DataTable
      id="table-behind" title="Who is behind" about="whole capture, no filter; whom the calls that have not returned wait for, through others too"
      columns={BEHIND} rows={model.report.behind ?? []} sort="waiting" rowTitle="show it in the timeline"
      onRow={(r) => r.members.length && lookAt(r.members[0] + 1)}
    />
  );
}

function OpenCalls({ view }: Props) {
  const rows = openCalls(model, view);
  if (!model.report.open?.length) return null;
  return (
    <DataTable
      id="table-open" title="Not returned" about="MPI calls that were open when their process was last seen" columns={OPEN} rows={rows}
      sort="age" rowTitle="show this process alone" onRow={(r) => r.process !== null && setCodes("process", new Set([r.process + 1]))}
      empty="No open call passes the filters." note={cannot(beyondRows(view).filter((name) => name !== "time" && name !== "ucp operation"))}
    />
  );
}

// Waiting, other time in MPI, and the rest of the observed time.
function Bar({ row, most }: { row: OwnTime; most: number }) {
  const part = (ns: number) => `${(100 * Math.max(0, ns)) / most}%`;
  const waited = Math.min(row.waited, row.mpi);
  return (
    <span class="shares" aria-hidden="true">
      <i style={{ width: part(waited), background: waitingColour() }} />
      <i style={{ width: part(row.mpi - waited), background: mpiColour() }} />
      <i class="rest" style={{ width: part((row.span ?? row.mpi) - row.mpi) }} />
    </span>
  );
}

const causedBy = computed(() => {
  const out = new Map<number | null, number>();
  for (const { process, fresh_ns } of model.report.wait_roots ?? []) out.set(process, (out.get(process) ?? 0) + fresh_ns);
  return out;
});
const caused = (process: number) => causedBy.value.get(process) ?? 0;

// Waits follow from messages, which transfers join; two bounds give no share.
const waiting = (ns: number) => amount(model.report, "uct", time(ns));
const waitingShare = (ns: number, whole: number) => (recorded(model.report, "uct") === "always" ? share(ns, whole) : "?");

function ranks(most: number): Column<OwnTime>[] {
  return [
    { id: "rank", label: "Rank", words: true, value: (r) => model.process(r.process)?.rank ?? model.labels[r.process], show: (r) => model.labels[r.process] },
    { id: "host", label: "Host", words: true, value: (r) => model.hostLabels[model.hostOf(r.process)] },
    { id: "bar", label: "Time", words: true, value: (r) => r.span, show: (r) => <Bar row={r} most={most} /> },
    { id: "span", label: "Observed", value: (r) => r.span, show: (r) => (r.span === null ? "unknown" : time(r.span)) },
    { id: "mpi", label: "In MPI", title: ">= the ends of some calls are not known", value: (r) => r.mpi, show: (r) => <span title={precisionWord(r.precision)}>{signedTime(r.mpi, r.precision)}</span> },
    { id: "share", label: "of it", value: (r) => (r.span ? (100 * r.mpi) / r.span : null), show: (r) => share(r.mpi, r.span ?? 0) },
    { id: "waited", label: "Waiting", title: "for other processes, each moment once", value: (r) => r.waited, show: (r) => waiting(r.waited) },
    { id: "part", label: "of MPI time", value: (r) => (r.mpi ? (100 * r.waited) / r.mpi : null), show: (r) => waitingShare(r.waited, r.mpi) },
    {
      id: "caused", label: "Caused", title: "waiting of others that it caused in the end; of the whole capture, whatever the filters",
      value: (r) => caused(r.process - 1), show: (r) => waiting(caused(r.process - 1)),
    },
  ];
}

function legend(): ComponentChildren {
  return (
    <span class="legend">
      <span><i class="swatch" style={{ background: waitingColour() }} />waiting</span>
      <span><i class="swatch" style={{ background: mpiColour() }} />in MPI, not waiting</span>
      <span><i class="swatch rest" />outside MPI calls, or not known</span>
    </span>
  );
}

// The facts that a chosen time, or chosen sizes, leave.
function within(view: View): string | undefined {
  const { range, sizes } = view.selection;
  const parts = [range ? "Calls and waits that began in the chosen time." : "", sizes.size ? "Calls that sent the chosen sizes, and waits in them." : ""];
  return parts.filter(Boolean).join(" ") || undefined;
}

function Ranks({ view }: Props) {
  const rows = processTimes(model, view);
  const most = Math.max(1, ...rows.map((row) => Math.max(row.span ?? 0, row.mpi)));
  return (
    <DataTable
      id="table-time" title="Time of each process" about={legend()} columns={ranks(most)} rows={rows} sort="rank" limit={32}
      rowTitle="show this process alone" onRow={(r) => setCodes("process", new Set([r.process]))}
      note={within(view)}
      empty={none("MPI call")}
    />
  );
}

// With the precision of the sum, which stands beside it.
const roughly = (ns: number, { time: sum, precision }: FunctionTime) => (tellsNothing(sum, precision) ? "?" : time(ns));

const WHOLE = "of calls whose end is exact; of the whole capture, whatever the filters";

// Only where the ends of some calls were recorded.
function durations(): Column<FunctionTime>[] {
  const rows = new Map((model.report.functions ?? []).filter((r) => r.exact).map((r) => [r.function, r]));
  if (!rows.size) return [];
  const column = (id: string, label: string, of: (r: FunctionDurations) => number | null): Column<FunctionTime> => {
    const value = (r: FunctionTime) => {
      const row = rows.get(model.names[r.code] ?? "");
      return row ? of(row) : null;
    };
    return { id, label, title: WHOLE, value, show: (r) => { const ns = value(r); return ns === null ? "?" : time(ns); } };
  };
  return [column("median", "Median", (r) => r.exact_median_ns), column("p99", "p99", (r) => r.exact_p99_ns)];
}

function Functions({ view }: Props) {
  const rows = functionTimes(model, view);
  const most = Math.max(1, ...rows.map((row) => row.time));
  const whole = rows.reduce((sum, row) => sum + row.time, 0);
  const columns: Column<FunctionTime>[] = [
    { id: "function", label: "MPI function", words: true, value: (r) => model.names[r.code] ?? model.outside },
    {
      id: "bar", label: "Time", words: true, value: (r) => r.time,
      show: (r) => <Bar row={{ process: 0, span: null, mpi: r.time, waited: r.waited, precision: 0 }} most={most} />,
    },
    { id: "time", label: "Sum", title: "of all processes", value: (r) => r.time, show: (r) => signedTime(r.time, r.precision) },
    { id: "share", label: "of MPI time", value: (r) => (whole ? (100 * r.time) / whole : null), show: (r) => share(r.time, whole) },
    { id: "calls", label: "Calls", value: (r) => r.calls, show: (r) => count(r.calls) },
    { id: "least", label: "Least", title: "of a process that calls it", value: (r) => r.least, show: (r) => roughly(r.least, r) },
    { id: "mean", label: "Mean", title: "of the processes that call it", value: (r) => r.time / r.processes, show: (r) => roughly(r.time / r.processes, r) },
    { id: "most", label: "Most", value: (r) => r.most, show: (r) => roughly(r.most, r) },
    { id: "who", label: "Rank", title: "with most", words: true, value: (r) => model.labels[r.who] },
    { id: "balance", label: "Most/mean", title: "1.00: all processes took the same time", value: (r) => (r.time ? (r.most * r.processes) / r.time : null), show: (r) => (r.time ? ((r.most * r.processes) / r.time).toFixed(2) : "-") },
    ...durations(),
    { id: "waited", label: "Waiting", value: (r) => r.waited, show: (r) => waiting(r.waited) },
    { id: "part", label: "of it", value: (r) => (r.time ? (100 * r.waited) / r.time : null), show: (r) => waitingShare(r.waited, r.time) },
  ];
  return (
    <DataTable
      id="table-summary" title="MPI functions by time" about={legend()} columns={columns} rows={rows} sort="time" rowTitle="show this function alone"
      onRow={(r) => setCodes("function", new Set([r.code]))} empty={none("MPI call")}
      note={["Times of calls whose end is not known are at least so long.", within(view)].filter(Boolean).join(" ")}
    />
  );
}

const state = (row: Wait) => {
  const parts: [string, number][] = [["computing", row.computing_ns], ["communicating", row.communicating_ns], ["waiting", row.waiting_ns]];
  const known = parts.filter(([, ns]) => ns > 0).sort((a, b) => b[1] - a[1]);
  return known.map(([did, ns]) => (known.length > 1 ? `${did} ${share(ns, row.sum_ns)}` : did));
};

const WAITS: Column<Wait>[] = [
  { id: "sum", label: "Time", value: (r) => r.sum_ns, show: (r) => (r.uncertainty_ns ? `${time(r.sum_ns)} ± ${time(r.uncertainty_ns)}` : time(r.sum_ns)) },
  { id: "kind", label: "Kind", words: true, value: (r) => kindWords(r.kind) },
  { id: "rank", label: "Rank", words: true, value: (r) => rank(r.process) },
  { id: "function", label: "in", words: true, value: (r) => r.function },
  { id: "site", label: "Call site", words: true, value: (r) => r.call_site, show: (r) => site(r.call_site) },
  { id: "culprit", label: "for rank", words: true, value: (r) => rank(r.culprit) },
  { id: "did", label: "that was", words: true, value: (r) => state(r).join(", ") || "unknown", show: (r) => <span title={state(r).join(", ")}>{state(r)[0] ?? "unknown"}</span> },
  { id: "then", label: "before", words: true, value: (r) => r.culprit_function },
  { id: "there", label: "its call site", words: true, value: (r) => r.culprit_call_site, show: (r) => site(r.culprit_call_site) },
  { id: "count", label: "Count", value: (r) => r.count, show: (r) => count(r.count) },
  { id: "max", label: "Longest", value: (r) => r.max_ns, show: (r) => time(r.max_ns) },
];

function unknownWaits(): string | undefined {
  const rows = Object.entries(model.report.waits_unknown ?? {});
  return rows.length ? `Not known whether they waited: ${rows.map(([why, n]) => `${why}: ${count(n)}`).join("; ")}.` : undefined;
}

const cannot = (names: string[]) => (names.length ? `These rows cannot be filtered by ${names.join(", ")}.` : undefined);

function Waits({ view }: Props) {
  const { rows, beyond } = waitRows(model, view, timeline.value);
  useEffect(() => {
    if (beyond.length && hasAllWaits(model)) wantTimeline();
  }, [beyond.length]);
  return (
    <DataTable
      id="table-waits" title="Waiting" about="calls that waited for another process; a moment may be of several kinds"
      columns={WAITS} rows={rows} sort="sum" rowTitle="show this process alone"
      onRow={(r) => setCodes("process", new Set([r.process + 1]))} note={[cannot(beyond), unknownWaits()].filter(Boolean).join(" ") || undefined}
      empty={model.report.waits?.length ? "No wait passes the filters." : withoutTransfers(model.report) ?? "No call is known to have waited."}
    />
  );
}

// A cause that is not known has neither.
const ofKnown = (word: (row: WaitRoot) => string | null) => (row: WaitRoot) => (row.process === null ? null : word(row) ?? "not known");

function causes(): Column<WaitRoot>[] {
  const whole = (model.report.wait_roots ?? []).reduce((sum, row) => sum + row.fresh_ns, 0);
  return [
    { id: "fresh", label: "Time", value: (r) => r.fresh_ns, show: (r) => time(r.fresh_ns) },
    { id: "share", label: "of waiting", value: (r) => (100 * r.fresh_ns) / whole, show: (r) => share(r.fresh_ns, whole) },
    { id: "rank", label: "Rank", words: true, value: (r) => (r.process === null ? "not known" : rank(r.process)) },
    { id: "did", label: "was", words: true, value: ofKnown((r) => r.did) },
    { id: "function", label: "before", words: true, value: ofKnown((r) => r.function) },
    { id: "site", label: "Call site", words: true, value: (r) => r.call_site, show: (r) => site(r.call_site) },
    { id: "count", label: "Waits", value: (r) => r.count, show: (r) => count(r.count) },
  ];
}

function Causes() {
  if (!model.report.wait_roots?.length) return null;
  return (
    <DataTable
      id="table-causes" title="Causes of waiting" about="whole capture, no filter; each moment once, by who caused it in the end"
      columns={causes()} rows={model.report.wait_roots} sort="fresh" rowTitle="show this process alone"
      onRow={(r) => r.process !== null && setCodes("process", new Set([r.process + 1]))}
    />
  );
}

const hasMemory = (rows: PathTimes[]) => rows.some((r) => r.src_mem);

function pathColumns(memory: boolean): Column<PathTimes>[] {
  return [
    { id: "transport", label: "Transport", words: true, value: (r) => `${r.transport}/${r.device}` },
    { id: "op", label: "UCT operation", words: true, value: (r) => r.op },
    { id: "protocol", label: "Protocol", words: true, value: (r) => r.protocol },
    { id: "locality", label: "Locality", words: true, value: (r) => r.locality },
    { id: "kind", label: "Kind", words: true, value: (r) => r.kind },
    ...(memory ? [{ id: "memory", label: "Memory", words: true, value: (r: PathTimes) => `${r.src_mem} → ${r.dst_mem}` }] : []),
    { id: "exact", label: "Exact", title: "transfers whose time is exact", value: (r) => r.exact, show: (r) => count(r.exact) },
    { id: "median", label: "Median", value: (r) => r.exact_median_ns, show: (r) => time(r.exact_median_ns) },
    { id: "p99", label: "p99", title: "99 % took no longer", value: (r) => r.exact_p99_ns, show: (r) => time(r.exact_p99_ns) },
  ];
}

function Durations() {
  const rows = model.report.path_times ?? [];
  if (!rows.length) return null;
  return (
    <DataTable
      id="table-path-times" title="Time of transfers" about="whole capture, no filter; medians and 99th percentiles, within 1.6 %"
      columns={pathColumns(hasMemory(rows))} rows={rows} sort="exact"
    />
  );
}

const TABLES = [Ranks, Functions, Waits, Causes, Durations];
const IN_SIGHT = 2; // at first

export function Summary() {
  return (
    <>
      {model.report.behind?.length ? <WhoIsBehind /> : null}
      {model.report.open?.length ? <OpenCalls view={current.value} /> : null}
      {TABLES.map((Body, i) => <Turn key={i} Body={Body} first={i < IN_SIGHT} />)}
    </>
  );
}
