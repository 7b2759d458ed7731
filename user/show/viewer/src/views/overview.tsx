// SPDX-License-Identifier: BSD-3-Clause
// The overview: the job, sentences about the numbers, destinations of the bytes, and unknowns.
import type { Process, Report } from "../data/directory";
import { amount, withoutTransfers } from "../data/layers";
import { unknowns } from "../data/unknown";
import { Sentence, verdict } from "../data/verdict";
import { current, filtered, kind, KIND_NOUNS, KIND_WORDS, measure, model, none, setCodes } from "../state/state";
import { lookAt } from "../state/timeline";
import { transportColour } from "../ui/colours";
import { brief, bytes, count, plural, share, time } from "../ui/format";
import { Column, DataTable } from "../ui/table";
import { Pairs } from "../ui/tip";

function distinct(values: (string | null)[]): string {
  const all = [...new Set(values.filter((value): value is string => !!value))].map(brief);
  return all.length > 4 ? `${all.slice(0, 4).join(", ")} and ${count(all.length - 4)} more` : all.join(", ");
}

export function headline(): string {
  const { processes, hosts } = model.report;
  const span = Math.max(0, ...hosts.map((host) => host.span_ns));
  const programs = distinct(processes.map((p) => p.comm)) || "no process";
  return `${programs}: ${plural(processes.length, "process", "processes")} on ${plural(hosts.length, "host")}, ${time(span)}`;
}

const STEPS = { uct: "all layers", ucp: "MPI calls and operations", mpi: "MPI calls", windows: "windows of all layers" };
const CHANGES = 8; // that are listed

/** With a budget: the recorded levels by time, with the reason; a row for each change of a capture. */
function budget(windows: NonNullable<Report["windows"]>): [string, string][] {
  const changes = windows.filter(({ step, capture }, i) =>
    step && (!i || windows[i - 1]!.step !== step || windows[i - 1]!.capture !== capture));
  const rows = changes.slice(0, CHANGES).map(({ step, reason, from_ns, paid_ppm }): [string, string] =>
    ["Budget", `from ${time(from_ns)} on ${STEPS[step!]} (${reason}${paid_ppm ? `, a thread paid ${share(paid_ppm, 1e6)} of its time` : ""})`]);
  return changes.length > CHANGES ? [...rows, ["Budget", `and ${count(changes.length - CHANGES)} changes more`]] : rows;
}

/** What tracing took of the job's time; null: the capture does not say. */
function paid(self: NonNullable<Report["self"]>): string | null {
  const { kernel, kernel_unknown } = self;
  if (!kernel) return kernel_unknown ? `time in BPF not known: ${kernel_unknown}` : null;
  const spread = kernel.spread_ns === undefined || !kernel.hits ? "" : ` +- ${time(kernel.spread_ns)}`;
  return `${time(kernel.time_ns)}${spread} in BPF for ${count(kernel.hits)} hits, plus their traps`;
}

function WhatRan() {
  const { processes, hosts, self, counted, windows, notes } = model.report;
  const from = (how: string) => processes.filter((p) => p.seen_from === how).length;
  const ucx = processes.flatMap((p) => p.ucx.map((u) => `${u.version}${u.layout === "unknown" ? " (unknown build)" : ""}`));
  const seen = from("start") === processes.length ? "their start" :
    from("attach") === processes.length ? "the middle of their run" :
      `their start: ${count(from("start"))}, the middle of their run: ${count(from("attach"))}`;
  const spans = hosts.map((host) => host.span_ns);
  return (
    <section class="card" aria-label="What ran">
      <header><h2>What ran</h2></header>
      <Pairs
        rows={[
          ["Programs", distinct(processes.map((p) => p.exe || p.comm))],
          ["Processes", `${count(processes.length)} on ${plural(hosts.length, "host")}: ${distinct(hosts.map((h) => h.name))}`],
          ["Seen for", hosts.length ? time(Math.max(...spans)) : null],
          ["Seen from", processes.length ? seen : null],
          ["MPI", distinct(processes.map((p) => p.mpi)) || "none"],
          ["UCX", distinct(ucx) || "unknown"],
          ["Level", self ? self.levels.join(", ") : null],
          ["Windows", windows ? `${count(windows.length)}; all sums are of these times alone` : null],
          ...budget(windows ?? []),
          ["Counted", counted ? `${count(counted.captures)} of ${plural(counted.of, "capture")}: sums without single events` : null],
          ["Tracer", self ? `${time(self.cpu_ns)} of CPU, ${count(self.records)} records in ${bytes(self.bytes)}` : null],
          ["Job paid", self ? paid(self) : null],
          ["Report is of", model.report.filter ? "a part of the facts: it was made with filters" : null],
          ...Object.entries(notes).map(([note, n]): [string, string] => ["Note", n > 1 ? `${note} (${count(n)})` : note]),
        ]}
      />
    </section>
  );
}

function Line({ text, tone, process }: Sentence) {
  return (
    <li class={tone}>
      {text}
      {process ? <> <button type="button" class="link no-print" onClick={() => lookAt(process)}>Show it in the timeline</button></> : null}
    </li>
  );
}

function Verdict() {
  return (
    <section class="card verdict" aria-label="In words">
      <header>
        <h2>In words</h2>
        <span class="soft">{KIND_WORDS[kind.value]}{filtered.value ? ", of what passes the filters" : ""}</span>
      </header>
      <ul>{verdict(model, current.value).map((line) => <Line {...line} />)}</ul>
    </section>
  );
}

interface Path {
  transport: string;
  device: string;
  codes: number[];
  bytes: number;
  count: number;
}

function paths(): Path[] {
  const f = model.facts.transfers;
  return current.value
    .group("transfers", [f.column("transport"), f.column("device")], ["bytes", "count"])
    .map(({ codes, sums }) => ({
      transport: model.names[codes[0]] ?? "unknown", device: model.names[codes[1]] ?? "unknown", codes,
      bytes: sums[0], count: sums[1],
    }));
}

function Bars() {
  const rows = paths();
  const of = (row: Path) => (measure.value === "bytes" ? row.bytes : row.count);
  rows.sort((a, b) => of(b) - of(a));
  const whole = { bytes: 0, count: 0 };
  for (const row of rows) {
    whole.bytes += row.bytes;
    whole.count += row.count;
  }
  const most = Math.max(1, ...rows.map(of));
  const choose = (row: Path) => {
    setCodes("transport", new Set([row.codes[0]]));
    setCodes("device", new Set([row.codes[1]]));
  };
  return (
    <section class="card" aria-label="Transports and devices">
      <header>
        <h2>Transports and devices</h2>
        <span class="soft">{amount(model.report, "uct", `${bytes(whole.bytes)} in ${plural(whole.count, "transfer")}`)}</span>
      </header>
      {rows.length === 0 && <p class="empty">{withoutTransfers(model.report) ?? none(KIND_NOUNS[kind.value][0])}</p>}
      {rows.length > 0 && (
        <div class="heads" aria-hidden="true">
          <span /><span /><span>bytes</span><span>share</span><span>transfers</span><span>share</span>
        </div>
      )}
      <ul class="paths">
        {rows.slice(0, 40).map((row) => (
          <li>
            <button type="button" title="show these alone" onClick={() => choose(row)}>
              <span class="name">{row.transport}<span class="soft"> / {row.device}</span></span>
              <span class="track">
                <i style={{ width: `${(100 * of(row)) / most}%`, background: transportColour(row.transport) }} />
              </span>
              <span class="num">{bytes(row.bytes)}</span>
              <span class="num share">{share(row.bytes, whole.bytes)}</span>
              <span class="num soft">{count(row.count)}</span>
              <span class="num share soft">{share(row.count, whole.count)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NotKnown() {
  return (
    <section class="card" aria-label="Not known">
      <header><h2>Not known</h2><span class="soft">whole capture, no filter</span></header>
      <ul class="unknowns">
        {unknowns(model).map((item) => (
          <li>
            <span class={item.fine ? "ok" : "off"}>{item.label}</span>
            <div>
              {item.text}
              {item.reasons.length > 0 && <Pairs rows={item.reasons} />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Row {
  process: Process;
  sent: number;
  received: number;
}

const COLUMNS: Column<Row>[] = [
  { id: "rank", label: "Rank", words: true, value: (r) => r.process.rank, show: (r) => model.labels[r.process.id + 1] },
  { id: "host", label: "Host", words: true, value: (r) => model.hostLabels[r.process.host + 1] },
  { id: "pid", label: "Pid", value: (r) => r.process.pid },
  { id: "program", label: "Program", words: true, value: (r) => r.process.comm },
  { id: "mpi", label: "MPI", words: true, value: (r) => r.process.mpi ?? "none" },
  { id: "ucx", label: "UCX", words: true, value: (r) => r.process.ucx.map((u) => u.version).join(", ") || "unknown" },
  { id: "from", label: "Seen from", words: true, value: (r) => r.process.seen_from },
  { id: "sent", label: "Sent", value: (r) => r.sent, show: (r) => amount(model.report, "uct", bytes(r.sent)) },
  { id: "received", label: "Received", value: (r) => r.received, show: (r) => amount(model.report, "uct", bytes(r.received)) },
];

function Processes() {
  const f = model.facts.transfers;
  const of = (column: string) => {
    const out = new Map<number, number>();
    for (const row of current.value.group("transfers", [f.column(column)], ["bytes"])) out.set(row.codes[0], row.sums[0]);
    return out;
  };
  const [sent, received] = [of("src"), of("dst")];
  const rows = model.report.processes.map((process) => ({
    process, sent: sent.get(process.id + 1) ?? 0, received: received.get(process.id + 1) ?? 0,
  }));
  return (
    <DataTable
      id="processes" title="Processes" columns={COLUMNS} rows={rows} sort="rank" limit={16}
      about="click to filter" rowTitle="show what this process did alone"
      onRow={(row) => setCodes("process", new Set([row.process.id + 1]))}
      empty="No process was traced."
    />
  );
}

export function Overview() {
  return (
    <div class="overview">
      <Verdict />
      <div class="columns">
        <div class="column"><Bars /><NotKnown /></div>
        <WhatRan />
      </div>
      <Processes />
    </div>
  );
}
