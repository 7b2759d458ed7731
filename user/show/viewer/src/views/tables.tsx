// SPDX-License-Identifier: BSD-3-Clause
import { meanTime, precisionWord, signedTime, tellsNothing, Times } from "../data/precision";
import { knowsMemory } from "../data/ways";
import { callerOf, placeTitle } from "../data/places";
import { Caused, causedRows } from "../data/moved";
import type { Group, View } from "../data/view";
import { KIND_NOUNS, KIND_WORDS, kindOf, model, none, setCodes } from "../state/state";
import { bytes, count, share } from "../ui/format";
import { Column, DataTable } from "../ui/table";
import { Cross } from "./cross";
import { Slowest } from "./slowest";
import { Turn } from "../ui/turns";
import { Pairs } from "./pairs";
import { Ways } from "./ways";
import { Collectives, MessageSizes, Protocols } from "./whole";

interface Props {
  view: View;
}

// Places of sums in a row, by name.
interface Row extends Group {
  whole: { bytes: number; count: number };
}

const TIMES = ["timed", "time_sum", "precision", "exact", "exact_time_sum"];
const TRANSFER_SUMS = ["count", "bytes", ...TIMES, "retries", "wire_bytes", "unexplained_bytes", "bytes_unknown", "exact_bytes"];
const CALL_SUMS = ["count", "bytes", ...TIMES, "ops", "ops_unknown"];
const OP_SUMS = ["count", "bytes", ...TIMES, "errors", "unchecked", "bytes_unknown"];

function withWhole<Of extends Group>(groups: Of[]): (Of & Row)[] {
  const whole = { bytes: 0, count: 0 };
  for (const { sums } of groups) {
    whole.count += sums[0];
    whole.bytes += sums[1];
  }
  return groups.map((group) => ({ ...group, whole }));
}

// Transfers that the rows of calls or operations caused, where a filter selects transfers.
function movedColumns(view: View): Column<Caused & Row>[] {
  if (!view.filter.conditions.below) return [];
  const noun = KIND_NOUNS[kindOf(view)][1];
  const title = `${noun} that pass the filters, caused by these`;
  return [
    { id: "moved", label: "Selected transfers", title, value: (r) => r.moved!.count, show: (r) => count(r.moved!.count) },
    { id: "movedbytes", label: "Selected bytes", title, value: (r) => r.moved!.bytes, show: (r) => bytes(r.moved!.bytes) },
  ];
}

const COUNT: Column<Row> = { id: "count", label: "Count", value: (r) => r.sums[0], show: (r) => count(r.sums[0]) };
const BYTES: Column<Row> = { id: "bytes", label: "Bytes", value: (r) => r.sums[1], show: (r) => bytes(r.sums[1]) };
const BYTES_SHARE: Column<Row> = {
  id: "share", label: "Bytes %", value: (r) => (r.whole.bytes ? (100 * r.sums[1]) / r.whole.bytes : null),
  show: (r) => share(r.sums[1], r.whole.bytes),
};
const COUNT_SHARE: Column<Row> = {
  id: "countshare", label: "Count %", value: (r) => (r.whole.count ? (100 * r.sums[0]) / r.whole.count : null),
  show: (r) => share(r.sums[0], r.whole.count),
};
const known = (r: Row) => r.sums[2] > 0 && !tellsNothing(r.sums[3], r.sums[4]);

const timesOf = ({ sums: [, , timed, time, precision, exact, exactTime] }: Row): Times => ({ timed, time, precision, exact, exactTime });

const MEAN: Column<Row> = {
  id: "mean", label: "Mean time",
  title: "of those whose duration is exact, and how many these are; without any a bound: >= lower, <= upper, ~ mixed. Bounds are not sorted by",
  value: (r) => (r.sums[5] ? r.sums[6] / r.sums[5] : null),
  show: (r) => <span title={precisionWord(r.sums[4])}>{meanTime(timesOf(r))}</span>,
};

// Bytes to a nanosecond.
const rateOf = ({ sums }: Row) => (sums[6] && sums[11] ? sums[11] / sums[6] : null);
const RATE: Column<Row> = {
  id: "rate", label: "GB/s", title: "bytes over time, of those whose duration is exact", value: rateOf, show: (r) => rateOf(r)?.toFixed(2) ?? "-",
};
const TOTAL_TIME: Column<Row> = {
  id: "time", label: "Time, all", title: "added up over all processes", value: (r) => (known(r) ? r.sums[3] : null),
  show: (r) => (r.sums[2] ? signedTime(r.sums[3], r.sums[4]) : "unknown"),
};

// For a sum that a type of fact has in this place.
function sum(id: string, label: string, place: number, write: (n: number) => string): Column<Row> {
  return { id, label, value: (r) => r.sums[place], show: (r) => write(r.sums[place]) };
}

// A sum over the operations of calls: a lower bound, or unknown, if operations were not recorded all the time.
function ofOps(id: string, label: string, place: number, write: (n: number) => string): Column<Row> {
  const show = (r: Row) => (!r.sums[8] ? write(r.sums[place]) : r.sums[place] ? `≥ ${write(r.sums[place])}` : "?");
  return { id, label, value: (r) => r.sums[place], show };
}

function named(id: string, label: string, place: number, absent = "unknown"): Column<Row> {
  return { id, label, words: true, value: (r) => model.names[r.codes[place]] ?? absent };
}

const LOCALITIES = ["unknown", "self", "node", "remote"];

const emulated = (r: Row) => model.names[r.codes[5]] === "emulated";

function Paths({ view }: Props) {
  const f = model.facts.transfers;
  const all = withWhole(view.group("transfers", ["transport", "device", "op", "protocol", "locality", "data_path", "initiator"].map((name) => f.column(name)), TRANSFER_SUMS));
  const columns = [
    named("transport", "Transport", 0), named("device", "Device", 1), named("op", "UCT operation", 2),
    named("protocol", "Protocol", 3),
    { id: "locality", label: "Locality", words: true, value: (r: Row) => LOCALITIES[r.codes[4]] },
    // of others the operation's name tells it
    ...(all.some(emulated) ? [named("datapath", "Data path", 5)] : []),
    ...(all.some((row) => row.codes[6] !== all[0].codes[6]) ? [named("initiator", "By", 6)] : []),
    COUNT, BYTES, BYTES_SHARE, MEAN, RATE, ...(all.some((row) => row.sums[7]) ? [sum("retries", "Retries", 7, count)] : []), sum("wire", "Wire bytes", 8, bytes),
    ...(all.some((row) => row.sums[9]) ? [sum("unexplained", "Unattributed", 9, bytes)] : []),
  ];
  return (
    <DataTable
      id="table-paths" title="Paths" about={`UCT transfers: ${KIND_WORDS[kindOf(view)]}`}
      columns={columns} rows={all} sort="bytes" rowTitle="show these transfers and what caused them"
      onRow={(r) => ["transport", "device", "op", "protocol"].forEach((id, i) => setCodes(id, new Set([r.codes[i]])))}
    />
  );
}

function Functions({ view }: Props) {
  const moved = movedColumns(view);
  const columns = [
    named("function", "MPI function", 0, model.outside), ...moved, sum("count", "Calls", 0, count), TOTAL_TIME, MEAN,
    ofOps("ops", "UCP operations", 7, count), ofOps("bytes", "Bytes sent", 1, bytes),
    { ...BYTES_SHARE, label: "Bytes %" },
  ];
  return (
    <DataTable
      id="table-functions" title="MPI functions" about="calls, all processes" columns={columns} sort={moved[1]?.id ?? "time"} key={moved.length}
      rows={withWhole(causedRows(view, "calls", ["function"], CALL_SUMS))} onRow={(r) => setCodes("function", new Set([r.codes[0]]))}
      rowTitle="show this function alone" empty={none("MPI call")}
    />
  );
}

const placeOf = (r: Row) => model.places[r.codes[0]];

const CALL_SITE: Column<Row> = {
  id: "place", label: "Call site", words: true, value: (r) => placeOf(r)?.label ?? "unknown",
  show: (r) => <code title={placeTitle(placeOf(r))}>{placeOf(r)?.label ?? "unknown"}</code>,
};

function CallSites({ view }: Props) {
  if (model.places.length < 2) return null;
  const moved = movedColumns(view);
  const columns: Column<Caused & Row>[] = [
    CALL_SITE, named("function", "MPI function", 1, model.outside), ...moved, sum("count", "Calls", 0, count), TOTAL_TIME, MEAN,
    ofOps("ops", "UCP operations", 7, count), ofOps("bytes", "Bytes sent", 1, bytes), BYTES_SHARE,
  ];
  return (
    <DataTable
      id="table-sites" title="Call sites" about="where MPI was called" columns={columns} sort={moved[1]?.id ?? "time"} key={moved.length}
      rows={withWhole(causedRows(view, "calls", ["place", "function"], CALL_SUMS))} rowTitle="show this call site alone"
      onRow={(r) => setCodes("call-site", new Set([r.codes[0]]))} empty={none("MPI call")}
    />
  );
}

const CALLER: Column<Row>[] = [
  { id: "caller", label: "Caller", words: true, value: (r) => callerOf(placeOf(r)) },
  { id: "frame", label: "Function", words: true, value: (r) => placeOf(r)?.frame ?? "unknown" },
  { id: "file", label: "In", words: true, value: (r) => placeOf(r)?.module?.split("/").pop() ?? "unknown" },
];

function Callers({ view }: Props) {
  if (model.callers.every((caller) => caller === "unknown")) return null;
  const moved = movedColumns(view);
  const rows = causedRows(view, "ops", ["place", "function", "ucp_op"], OP_SUMS).filter((r) => !r.codes[1]);
  const columns = [...CALLER, CALL_SITE, named("op", "UCP operation", 2), ...moved, COUNT, COUNT_SHARE, BYTES, MEAN, sum("errors", "Errors", 7, count)];
  return (
    <DataTable
      id="table-callers" title="Callers of UCP" about="operations outside MPI, by the code that made them" columns={columns} rows={withWhole(rows)}
      sort={moved[1]?.id ?? "bytes"} key={moved.length} rowTitle="show this call site alone"
      onRow={(r) => setCodes("call-site", new Set([r.codes[0]]))} empty={none("operation")}
    />
  );
}

// A transfer may have another protocol than its operation, and other memory: with sums of them there are fewer rows.
function Operations({ view }: Props) {
  const memory = knowsMemory(model);
  const moved = movedColumns(view);
  const details = moved.length ? [] : ["protocol", ...(memory ? ["memory"] : [])];
  const columns = [
    named("op", "UCP operation", 0), named("function", "MPI function", 1, model.outside),
    ...details.map((id, i) => named(id, id === "memory" ? "Memory" : "Protocol", 2 + i)),
    ...moved, COUNT, COUNT_SHARE, BYTES, MEAN, TOTAL_TIME, sum("errors", "Errors", 7, count),
  ];
  return (
    <DataTable
      id="table-ops" title="UCP operations" about="sends and receives: their bytes are not to be added up" key={moved.length}
      columns={columns} rows={withWhole(causedRows(view, "ops", ["ucp_op", "function", ...details], OP_SUMS))} sort={moved[1]?.id ?? "count"}
      empty={none("operation")}
    />
  );
}

const TABLES = [Cross, Paths, Functions, CallSites, Callers, Operations, Collectives, Protocols, MessageSizes, Pairs, Ways, Slowest];
const IN_SIGHT = 3; // at first

export function Tables() {
  return <>{TABLES.map((Body, i) => <Turn key={i} Body={Body} first={i < IN_SIGHT} />)}</>;
}
