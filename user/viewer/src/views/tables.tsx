// SPDX-License-Identifier: BSD-3-Clause
import { precisionWord, meanTime, signedTime } from "../data/precision";
import { knowsMemory } from "../data/ways";
import { placeTitle } from "../data/places";
import type { Group } from "../data/engine";
import { current, kind, KIND_WORDS, model, setCodes } from "../state/state";
import { bytes, count, share } from "../ui/format";
import { Column, DataTable } from "../ui/table";
import { Cross } from "./cross";
import { Slowest } from "./slowest";
import { Ways } from "./ways";

const word = (code: number) => model.names[code] ?? "unknown";

// Places of sums in a row, by name.
interface Row extends Group {
  whole: { bytes: number; count: number };
}

const TIMES = ["timed", "time_sum", "precision"];
const TRANSFER_SUMS = ["count", "bytes", ...TIMES, "retries", "wire_bytes", "unexplained_bytes", "bytes_unknown"];
const CALL_SUMS = ["count", "bytes", ...TIMES, "ops", "bytes_unknown"];
const OP_SUMS = ["count", "bytes", ...TIMES, "errors", "unchecked", "bytes_unknown"];

function rows(sort: "calls" | "ops" | "transfers", columns: string[], names: string[]): Row[] {
  const f = model.facts[sort];
  const groups = current.value.group(sort, columns.map((name) => f.column(name)), names);
  const whole = { bytes: 0, count: 0 };
  for (const { sums } of groups) {
    whole.count += sums[0];
    whole.bytes += sums[1];
  }
  return groups.map((group) => ({ ...group, whole }));
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
const MEAN: Column<Row> = {
  id: "mean", label: "Mean time", title: "of those whose duration is known; >= lower bound, <= upper bound, ~ mixed",
  value: (r) => (r.sums[2] ? r.sums[3] / r.sums[2] : null),
  show: (r) => <span title={precisionWord(r.sums[4])}>{meanTime(r.sums[3], r.sums[2], r.sums[4])}</span>,
};
const TOTAL_TIME: Column<Row> = {
  id: "time", label: "Time, all", title: "added up over all processes", value: (r) => (r.sums[2] ? r.sums[3] : null),
  show: (r) => (r.sums[2] ? signedTime(r.sums[3], r.sums[4]) : "unknown"),
};

// Of a sum that a sort of fact has in this place.
function sum(id: string, label: string, place: number, write: (n: number) => string): Column<Row> {
  return { id, label, value: (r) => r.sums[place], show: (r) => write(r.sums[place]) };
}

function named(id: string, label: string, place: number, absent = "unknown"): Column<Row> {
  return { id, label, words: true, value: (r) => model.names[r.codes[place]] ?? absent };
}

const LOCALITIES = ["unknown", "self", "node", "remote"];

function Paths() {
  const all = rows("transfers", ["transport", "device", "op", "protocol", "locality"], TRANSFER_SUMS);
  const columns = [
    named("transport", "Transport", 0), named("device", "Device", 1), named("op", "UCT operation", 2),
    named("protocol", "Protocol", 3),
    { id: "locality", label: "Locality", words: true, value: (r: Row) => LOCALITIES[r.codes[4]] },
    COUNT, COUNT_SHARE, BYTES, BYTES_SHARE, MEAN, sum("retries", "Retries", 5, count),
    sum("wire", "Wire bytes", 6, bytes),
    ...(all.some((row) => row.sums[7]) ? [sum("unexplained", "Unattributed", 7, bytes)] : []),
  ];
  return (
    <DataTable
      id="table-paths" title="Paths" about={`UCT transfers: ${KIND_WORDS[kind.value]}`}
      columns={columns} rows={all} sort="bytes"
    />
  );
}

function Functions() {
  const columns = [
    named("function", "MPI function", 0, "outside MPI"), sum("count", "Calls", 0, count), TOTAL_TIME, MEAN,
    sum("ops", "UCP operations", 5, count), sum("bytes", "Bytes sent", 1, bytes),
    { ...BYTES_SHARE, label: "Bytes %" },
  ];
  return (
    <DataTable
      id="table-functions" title="MPI functions" about="calls, all processes" columns={columns} sort="time"
      rows={rows("calls", ["function"], CALL_SUMS)} onRow={(r) => setCodes("function", new Set([r.codes[0]]))}
      rowTitle="show this function alone"
      note="Calls have no transport, device or UCT operation: filters on these leave this table as it is."
      empty="No MPI call passes the filters."
    />
  );
}

function CallSites() {
  if (model.places.length < 2) return null;
  const columns: Column<Row>[] = [
    {
      id: "place", label: "Call site", words: true, value: (r) => model.places[r.codes[0]]?.label ?? "unknown",
      show: (r) => <code title={placeTitle(model.places[r.codes[0]])}>{model.places[r.codes[0]]?.label ?? "unknown"}</code>,
    },
    named("function", "MPI function", 1, "outside MPI"), sum("count", "Calls", 0, count), TOTAL_TIME, MEAN,
    sum("ops", "UCP operations", 5, count), sum("bytes", "Bytes sent", 1, bytes), BYTES_SHARE,
  ];
  return (
    <DataTable
      id="table-sites" title="Call sites" about="where MPI was called" columns={columns} sort="time"
      rows={rows("calls", ["place", "function"], CALL_SUMS)} rowTitle="show this call site alone"
      onRow={(r) => setCodes("call-site", new Set([r.codes[0]]))} empty="No MPI call passes the filters."
    />
  );
}

function Operations() {
  const memory = knowsMemory(model);
  const columns = [
    named("op", "UCP operation", 0), named("function", "MPI function", 1, "outside MPI"), named("protocol", "Protocol", 2),
    ...(memory ? [named("memory", "Memory", 3)] : []),
    COUNT, COUNT_SHARE, BYTES, MEAN, TOTAL_TIME, sum("errors", "Errors", 5, count),
  ];
  return (
    <DataTable
      id="table-ops" title="UCP operations" about="sends and receives: their bytes are not to be added up"
      columns={columns} rows={rows("ops", ["ucp_op", "function", "protocol", ...(memory ? ["memory"] : [])], OP_SUMS)} sort="count"
      empty="No operation passes the filters."
    />
  );
}

interface Pair {
  src: number;
  dst: number;
  messages: number;
  of: number;
  transfers: number;
  bytes: number;
  by: number[]; // transport, bytes; transport, bytes...
}

const WIDE = 2 ** 22; // more processes than that there are not

function pairs(): Pair[] {
  const { transfers, messages } = model.facts;
  const out = new Map<number, Pair>();
  const at = (src: number, dst: number) => {
    const id = src * WIDE + dst;
    let pair = out.get(id);
    if (!pair) out.set(id, (pair = { src, dst, messages: 0, of: 0, transfers: 0, bytes: 0, by: [] }));
    return pair;
  };
  const view = current.value;
  const matched = view.sumsBy("messages", ["src", "dst"].map((c) => messages.column(c)), ["count", "bytes"]);
  for (const row of matched.rows) {
    const pair = at(matched.codes[0][row], matched.codes[1][row]);
    pair.messages += matched.sums[0][row];
    pair.of += matched.sums[1][row];
  }
  const columns = ["src", "dst", "transport"].map((c) => transfers.column(c));
  const moved = view.sumsBy("transfers", columns, ["count", "bytes"]);
  for (const row of moved.rows) {
    const pair = at(moved.codes[0][row], moved.codes[1][row]);
    pair.transfers += moved.sums[0][row];
    pair.bytes += moved.sums[1][row];
    pair.by.push(moved.codes[2][row], moved.sums[1][row]);
  }
  return [...out.values()];
}

function shares(pair: Pair): string {
  if (!pair.bytes) return "-";
  const by: [string, number][] = [];
  for (let i = 0; i < pair.by.length; i += 2) if (pair.by[i + 1] > 0) by.push([word(pair.by[i]), pair.by[i + 1]]);
  by.sort((a, b) => b[1] - a[1]);
  return by.map(([name, n]) => `${name} ${share(n, pair.bytes)}`).join(", ");
}

const PAIRS: Column<Pair>[] = [
  { id: "src", label: "From", words: true, value: (p) => model.labels[p.src], show: (p) => <span title={model.longLabel(p.src)}>{model.labels[p.src]}</span> },
  { id: "dst", label: "To", words: true, value: (p) => model.labels[p.dst], show: (p) => <span title={model.longLabel(p.dst)}>{model.labels[p.dst]}</span> },
  { id: "messages", label: "Messages", value: (p) => p.messages, show: (p) => count(p.messages) },
  { id: "of", label: "of bytes", value: (p) => p.of, show: (p) => bytes(p.of) },
  { id: "transfers", label: "Transfers", value: (p) => p.transfers, show: (p) => count(p.transfers) },
  { id: "bytes", label: "Bytes", value: (p) => p.bytes, show: (p) => bytes(p.bytes) },
  { id: "by", label: "By transport", words: true, value: shares },
];

function Pairs() {
  const only = (pair: Pair) => {
    setCodes("src", new Set([pair.src]));
    setCodes("dst", new Set([pair.dst]));
  };
  return (
    <DataTable
      id="table-pairs" title="Pairs" about="data moves from → to" columns={PAIRS} rows={pairs()} sort="bytes" onRow={only}
      rowTitle="show this pair alone"
      note="Messages are sends matched to their receives; they have no transport, so filters on it leave these columns as they are."
    />
  );
}

export function Tables() {
  return (
    <>
      <Cross />
      <Paths />
      <Functions />
      <CallSites />
      <Operations />
      <Pairs />
      <Ways />
      <Slowest />
    </>
  );
}
