// SPDX-License-Identifier: BSD-3-Clause
// The job's environment: hosts and their clocks, where processes ran, their variables, NICs and ways between hosts.
import type { Clock, Host, Nic, Process, Route } from "../data/directory";
import { environmentOf, ranges, Setting } from "../data/environment";
import { model, setCodes } from "../state/state";
import { brief, bytes, count, plural, share, time } from "../ui/format";
import { Column, DataTable } from "../ui/table";

const hostName = (id: number | null) => (id === null ? "unknown" : model.hostLabels[id + 1]);
const number = <Row,>(id: string, label: string, value: (row: Row) => number | null, write: (n: number) => string): Column<Row> =>
  ({ id, label, value, show: (row) => ((n) => (n === null ? "unknown" : write(n)))(value(row)) });
const words = <Row,>(id: string, label: string, value: (row: Row) => string): Column<Row> => ({ id, label, words: true, value });

// Ranks as ranges where all have one that is theirs alone.
function who(ids: number[]): string {
  const ranked = ids.every((id) => model.labels[id + 1] === `${model.report.processes[id].rank}`);
  return ranked ? ranges(ids.map((id) => model.report.processes[id].rank!)) : ids.map((id) => model.labels[id + 1]).join(", ");
}

function Hosts() {
  const of = (host: Host) => model.report.processes.filter((process) => process.host === host.id).map(({ id }) => id);
  const devices = (host: Host) => (model.report.devices ?? []).filter((device) => device.host === host.id);
  const moved = (direction: string) => (host: Host) =>
    (model.report.nics ?? []).reduce((sum, nic) => sum + (nic.host === host.id && nic.direction === direction ? nic.bytes : 0), 0);
  const columns: Column<Host>[] = [
    words("host", "Host", (host) => hostName(host.id)),
    number("processes", "Processes", (host) => of(host).length, count), words("ranks", "Ranks", (host) => who(of(host))),
    words("gpus", "GPUs", (host) => devices(host).map((device) => device.name).join(", ") || "none known"),
    number("out", "Sent by NICs", moved("out"), bytes), number("in", "Received by NICs", moved("in"), bytes),
    number("span", "Seen for", (host) => host.span_ns, time), words("boot", "Boot id", (host) => host.boot_id),
  ];
  return (
    <DataTable id="table-hosts" title="Hosts" columns={columns} rows={model.hosts} sort="host" onRow={(host) => setCodes("host", new Set([host.id + 1]))}
      about="click to filter" rowTitle="show this host alone" empty="No host was traced." />
  );
}

function Placement() {
  const gpus = new Map<number, string[]>();
  for (const device of model.report.devices ?? [])
    for (const { process } of device.processes ?? []) gpus.set(process, [...(gpus.get(process) ?? []), device.name]);
  const columns: Column<Process>[] = [
    { id: "rank", label: "Process", words: true, value: (p) => p.rank ?? model.labels[p.id + 1], show: (p) => brief(model.labels[p.id + 1]) },
    words("host", "Host", (p) => hostName(p.host)), number("pid", "Pid", (p) => p.pid, String),
    { id: "cpus", label: "Cores", words: true, title: "that its first thread might run on when it was found", value: (p) => p.cpus ?? "not known" },
    words("gpus", "GPUs", (p) => (gpus.get(p.id) ?? []).join(", ") || "none known"), words("program", "Program", (p) => p.exe || p.comm),
    words("job", "Job", (p) => p.job ?? "none"),
  ];
  return (
    <DataTable id="table-placement" title="Where processes ran" columns={columns} rows={model.report.processes} sort="rank"
      onRow={(p) => setCodes("process", new Set([p.id + 1]))} rowTitle="show what this process did alone" about="click to filter"
      empty="No process was traced." />
  );
}

function Settings() {
  const { settings, known, cut } = environmentOf(model.report.processes);
  const all = model.report.processes.length;
  const columns: Column<Setting>[] = [
    number("values", "Values", (s) => s.values, count), words("name", "Variable", (s) => s.name),
    { id: "value", label: "Value", words: true, value: (s) => s.value ?? "not set", show: (s) => (s.value === null ? <i>not set</i> : <code title={s.value}>{brief(s.value)}</code>) },
    number("processes", "Processes", (s) => s.processes.length, count), words("which", "Ranks", (s) => (s.processes.length === all ? "all" : who(s.processes))),
  ];
  const unknown = [
    known && known < all ? `those of ${plural(all - known, "process", "processes")}` : "",
    cut ? `some of ${plural(cut, "process", "processes")}, for lack of space` : "",
  ].filter(Boolean).join("; ");
  return (
    <DataTable id="table-environment" title="Environment" columns={columns} rows={settings} sort="values"
      about="at program start; differing variables first" onRow={(s) => setCodes("process", new Set(s.processes.map((id) => id + 1)))}
      rowTitle="show only these processes" note={unknown ? `Not known: ${unknown}.` : undefined}
      empty={known ? "No variable that says how messages travel was set." : "Not known: the captures have no variables."} />
  );
}

const SUMS = <Row extends { count: number; bytes: number; bytes_unknown: number; wire_bytes: number }>(whole: number): Column<Row>[] => [
  number("count", "Transfers", (row) => row.count, count), number("bytes", "Bytes", (row) => row.bytes, bytes),
  { id: "share", label: "Bytes %", value: (row) => (whole ? (100 * row.bytes) / whole : null), show: (row) => share(row.bytes, whole) },
  number("wire", "Wire bytes", (row) => row.wire_bytes, bytes), number("unknown", "Of no known length", (row) => row.bytes_unknown, count),
];

function Nics() {
  const rows = model.report.nics ?? [];
  const out = rows.reduce((sum, nic) => sum + (nic.direction === "out" ? nic.bytes : 0), 0);
  const columns: Column<Nic>[] = [
    words("host", "Host", (nic) => hostName(nic.host)), words("device", "NIC", (nic) => nic.device), words("direction", "Direction", (nic) => nic.direction),
    ...SUMS<Nic>(out),
  ];
  return <DataTable id="table-nics" title="NICs" about="data between hosts: each transfer out of one and into one" columns={columns} rows={rows} sort="bytes" empty="No data went between hosts." />;
}

function Routes() {
  const rows = model.report.routes ?? [];
  const columns: Column<Route>[] = [
    words("src", "From", (r) => hostName(r.src_host)), words("srcmem", "Memory", (r) => r.src_mem), words("srcnic", "NIC", (r) => r.src_nic),
    words("dstnic", "To NIC", (r) => r.dst_nic), words("dstmem", "To memory", (r) => r.dst_mem), words("dst", "To", (r) => hostName(r.dst_host)),
    ...SUMS<Route>(rows.reduce((sum, route) => sum + route.bytes, 0)),
  ];
  return rows.length ? <DataTable id="table-routes" title="Ways between hosts" columns={columns} rows={rows} sort="bytes" /> : null;
}

const CLOCKS: Column<Clock>[] = [
  words("host", "Host", (c) => hostName(c.host)), words("other", "Other host", (c) => hostName(c.other)),
  number("there", "Messages there", (c) => c.there, count), number("back", "Back", (c) => c.back, count),
  number("offset", "Ahead", (c) => c.offset_ns, time), number("within", "Within ±", (c) => c.offset_uncertainty_ns, time),
  number("drift", "Gains, ppb", (c) => c.drift_ppb, count), number("driftwithin", "Within ±, ppb", (c) => c.drift_uncertainty_ppb, count),
  number("at", "At", (c) => c.at_ns, time), words("reason", "Not known, since", (c) => c.reason ?? ""),
];

function Clocks() {
  const rows = model.report.clocks ?? [];
  return rows.length ? (
    <DataTable id="table-clocks" title="Clocks" columns={CLOCKS} rows={rows} sort="host" about="how far the other host's is ahead, as messages bound it"
      note="No message arrives before it is sent: the true value lies within the given range, and no times are corrected by it." />
  ) : null;
}

export function HostsView() {
  return (
    <>
      <p class="note">These tables show the whole {model.report.filter ? "report, which was made with filters" : "capture"}, whatever is filtered here.</p>
      {[Hosts, Settings, Placement, Nics, Routes, Clocks].map((Body) => <div class="turn"><Body /></div>)}
    </>
  );
}
