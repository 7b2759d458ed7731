// SPDX-License-Identifier: BSD-3-Clause
import { useEffect } from "preact/hooks";
import type { Slow } from "../data/directory";
import type { View } from "../data/view";
import { asSlow, inRange, MOST, sizeClass, slowestEvents } from "../data/slowest";
import { engine, kindOf, model } from "../state/state";
import { timeline, wantTimeline } from "../state/timeline";
import { transportColour } from "../ui/colours";
import { bytes, instant, time } from "../ui/format";
import { Column, DataTable } from "../ui/table";

const SIGNS: Record<string, string> = { upper_bound: "<= ", lower_bound: ">= ", mixed: "~ " };
const MOST_EVENTS = 2_000_000; // that are worth reading for 20 rows

// Dimensions of the report's rows for filters.
const FIELDS: Record<string, (slow: Slow) => string | number | null> = {
  transport: (s) => s.transport,
  device: (s) => s.device,
  op: (s) => s.op,
  "ucp-op": (s) => s.ucp_op ?? "no operation",
  function: (s) => s.function ?? model.outside,
  process: (s) => s.process + 1,
  host: (s) => model.hostOf(s.process + 1),
};

function passes(view: View, slow: Slow): boolean {
  const size = slow.bytes === null ? 0 : sizeClass(slow.bytes);
  const { sizes, wanted } = view.selection;
  if (sizes.size && !sizes.has(size)) return false;
  for (const [id, codes] of wanted) {
    const value = FIELDS[id]?.(slow);
    if (value === undefined) continue;
    const { values } = engine.dim(id);
    if (![...codes].some((code) => (typeof value === "number" ? code === value : values[code] === value))) return false;
  }
  return inRange(view, model.hostOf(slow.process + 1) - 1, slow.at_ns);
}

const who = (id: number | null) => (id === null ? "unknown" : model.labels[id + 1]);

const COLUMNS: Column<Slow>[] = [
  { id: "time", label: "Time", value: (s) => s.time_ns, show: (s) => `${SIGNS[s.precision] ?? ""}${time(s.time_ns)}` },
  { id: "op", label: "UCT operation", words: true, value: (s) => s.op },
  {
    id: "path", label: "Path", words: true, value: (s) => `${s.transport}/${s.device}`,
    show: (s) => <><i class="swatch" style={{ background: transportColour(s.transport) }} />{s.transport}/{s.device}</>,
  },
  { id: "bytes", label: "Bytes", value: (s) => s.bytes, show: (s) => (s.bytes === null ? "unknown" : bytes(s.bytes)) },
  { id: "process", label: "Started by", words: true, value: (s) => who(s.process) },
  { id: "peer", label: "With", words: true, value: (s) => who(s.peer) },
  { id: "function", label: "MPI function", words: true, value: (s) => s.function ?? model.outside },
  { id: "ucp", label: "UCP operation", words: true, value: (s) => s.ucp_op ?? "none" },
  { id: "at", label: "At", value: (s) => s.at_ns, show: (s) => instant(s.at_ns, 1000) },
];

const NOTE = "A transfer may be slow because its thread lost the processor in the middle of it.";

export function Slowest({ view }: { view: View }) {
  const { kept, of } = model.directory.timeline.events;
  const single = kept === of && of > 0 && of <= MOST_EVENTS;
  useEffect(() => {
    if (single) wantTimeline();
  }, []);
  const data = timeline.value;
  if (single && data) {
    const rows = slowestEvents(data, view).map((event) => asSlow(data, event));
    return (
      <DataTable
        id="table-slowest" title="Slowest transfers" columns={COLUMNS} rows={rows} sort="time" note={NOTE}
        about={`the ${MOST} that took longest of those that pass the filters`} empty="No transfer with a known duration passes the filters."
      />
    );
  }
  const all = model.report.slowest.length;
  const unmet = [...view.selection.wanted.keys()].filter((id) => id !== "kind" && !FIELDS[id]).map((id) => engine.dim(id).label.toLowerCase());
  return (
    <DataTable
      id="table-slowest" title="Slowest transfers" columns={COLUMNS} sort="time"
      rows={kindOf(view) === "data" ? model.report.slowest.filter((slow) => passes(view, slow)) : []}
      about={`of the ${all} slowest data transfers of the whole capture, those that pass the filters`}
      note={unmet.length ? `${NOTE} These rows cannot be filtered by ${unmet.join(", ")}.` : NOTE}
      empty={`None of the ${all} slowest data transfers of the capture passes the filters.`}
    />
  );
}
