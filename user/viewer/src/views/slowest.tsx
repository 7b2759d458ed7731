// SPDX-License-Identifier: BSD-3-Clause
// The transfers that took longest, as the report has them: 20 of the whole capture.
import type { Slow } from "../data/directory";
import { chosen, engine, kind, model, range, sizes } from "../state/state";
import { bytes, instant, time } from "../ui/format";
import { Column, DataTable } from "../ui/table";
import { transportColour } from "../ui/colours";

const SIGNS: Record<string, string> = { upper_bound: "<= ", lower_bound: ">= ", mixed: "~ " };

const FIELDS: Record<string, (slow: Slow) => string | number | null> = {
  transport: (s) => s.transport,
  device: (s) => s.device,
  op: (s) => s.op,
  "ucp-op": (s) => s.ucp_op,
  function: (s) => s.function,
  process: (s) => s.process + 1,
  host: (s) => model.hostOf(s.process + 1),
};

function sizeClass(value: number): number {
  return value === 0 ? 1 : Math.floor(Math.log2(value)) + 2;
}

function inTime(slow: Slow): boolean {
  const at = range.value;
  if (!at) return true;
  const { hosts, bucket_ns } = model.directory.time;
  const host = hosts.find((row) => row.host === model.report.processes[slow.process]?.host);
  const bucket = Math.floor((slow.at_ns - (host?.zero_ns ?? 0)) / bucket_ns);
  return bucket >= at.from && bucket < at.to;
}

function passes(slow: Slow): boolean {
  if (sizes.value.size && !sizes.value.has(sizeClass(slow.bytes))) return false;
  for (const [id, codes] of chosen.value) {
    const field = FIELDS[id];
    if (!field) continue;
    const value = field(slow);
    const values = engine.dim(id).values;
    const fits = [...codes].some((code) => (typeof value === "number" ? code === value : values[code] === value));
    if (!fits) return false;
  }
  return inTime(slow);
}

const who = (id: number | null) => (id === null ? "unknown" : model.labels[id + 1]);

const COLUMNS: Column<Slow>[] = [
  { id: "time", label: "Time", value: (s) => s.time_ns, show: (s) => `${SIGNS[s.precision] ?? ""}${time(s.time_ns)}` },
  { id: "op", label: "UCT operation", words: true, value: (s) => s.op },
  {
    id: "path", label: "Path", words: true, value: (s) => `${s.transport}/${s.device}`,
    show: (s) => <><i class="swatch" style={{ background: transportColour(s.transport) }} />{s.transport}/{s.device}</>,
  },
  { id: "bytes", label: "Bytes", value: (s) => s.bytes, show: (s) => bytes(s.bytes) },
  { id: "process", label: "Started by", words: true, value: (s) => who(s.process) },
  { id: "peer", label: "With", words: true, value: (s) => who(s.peer) },
  { id: "function", label: "MPI function", words: true, value: (s) => s.function ?? "outside MPI" },
  { id: "ucp", label: "UCP operation", words: true, value: (s) => s.ucp_op ?? "none" },
  { id: "at", label: "At", value: (s) => s.at_ns, show: (s) => instant(s.at_ns, 1000) },
];

export function Slowest() {
  const rows = kind.value === "data" ? model.report.slowest.filter(passes) : [];
  const all = model.report.slowest.length;
  return (
    <DataTable
      id="table-slowest" title="Slowest transfers" columns={COLUMNS} rows={rows} sort="time"
      about={`of the ${all} slowest of the whole capture, those that pass the filters`}
      note="A transfer may be slow because its thread lost the processor in the middle of it."
      empty={`None of the ${all} slowest transfers of the capture passes the filters.`}
    />
  );
}
