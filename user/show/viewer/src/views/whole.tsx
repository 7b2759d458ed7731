// SPDX-License-Identifier: BSD-3-Clause
// Tables of the report that no filter of the page changes: algorithms of collectives, sizes of messages, and where
// protocols switch.
import type { Collective, Protocol, SizeClass } from "../data/directory";
import { engine, model, setCodes } from "../state/state";
import { bytes, count, share } from "../ui/format";
import { Column, DataTable } from "../ui/table";

const WHOLE = "whole capture, no filter";

const span = (least: number, most: number) => (least === most ? bytes(most) : `${bytes(least)} to ${bytes(most)}`);

function chooseFunction(name: string | null) {
  const code = engine.dim("function").values.indexOf(name ?? model.outside);
  if (code >= 0) setCodes("function", new Set([code]));
}

const numbers = ({ first_sequence: first, last_sequence: last }: Collective) =>
  (first === null ? "unknown" : first === last ? `${first}` : `${first} to ${last}`);

const COLLECTIVES: Column<Collective>[] = [
  { id: "function", label: "MPI function", words: true, value: (r) => r.function },
  { id: "comm", label: "Communicator", words: true, value: (r) => r.communicator ?? "unknown" },
  { id: "ranks", label: "Ranks", value: (r) => r.ranks, show: (r) => (r.ranks === null ? "unknown" : count(r.ranks)) },
  {
    id: "algorithm", label: "Algorithm", words: true, value: (r) => r.algorithm ?? `unknown: ${r.reason}`,
    show: (r) => (r.algorithm ?? <span class="soft">unknown: {r.reason}</span>),
  },
  { id: "count", label: "Count", value: (r) => r.count, show: (r) => count(r.count) },
  { id: "numbers", label: "Numbers", title: "of the operations, among the blocking collectives of their communicator", words: true, value: numbers },
  { id: "rounds", label: "Rounds", title: "messages that have to wait for each other", value: (r) => r.rounds, show: (r) => (r.rounds === null ? "?" : count(r.rounds)) },
  { id: "sent", label: "Sends", title: "of the rank that sent most, in one operation", value: (r) => r.most_sent, show: (r) => count(r.most_sent) },
  { id: "bytes", label: "Bytes, all", value: (r) => r.bytes, show: (r) => bytes(r.bytes) },
  { id: "least", label: "Bytes, least", title: "of one operation", value: (r) => r.least_bytes, show: (r) => bytes(r.least_bytes) },
  { id: "most", label: "most", title: "likewise", value: (r) => r.most_bytes, show: (r) => bytes(r.most_bytes) },
];

export function Collectives() {
  if (!model.report.collectives?.length) return null;
  return (
    <DataTable
      id="table-collectives" title="Collectives" about={`the algorithm that each ran, by its messages; ${WHOLE}`} columns={COLLECTIVES}
      rows={model.report.collectives} sort="bytes" rowTitle="show this function alone" onRow={(r) => chooseFunction(r.function)}
    />
  );
}

const SIZES: Column<SizeClass>[] = [
  { id: "size", label: "Message size", value: (r) => r.from_bytes, show: (r) => span(r.from_bytes, r.most_bytes) },
  { id: "messages", label: "Messages", value: (r) => r.messages, show: (r) => count(r.messages) },
  { id: "bytes", label: "Bytes", value: (r) => r.bytes, show: (r) => bytes(r.bytes) },
  { id: "known", label: "Arrival known", title: "messages of which the arrival and the start of the receive are known", value: (r) => r.known, show: (r) => count(r.known) },
  { id: "early", label: "Unexpected", title: "of these, messages that arrived before their receive was posted", value: (r) => r.unexpected, show: (r) => (r.known ? count(r.unexpected) : "?") },
  { id: "part", label: "of known", value: (r) => (r.known ? (100 * r.unexpected) / r.known : null), show: (r) => (r.known ? share(r.unexpected, r.known) : "?") },
  { id: "earlybytes", label: "Unexpected bytes", value: (r) => r.unexpected_bytes, show: (r) => (r.known ? bytes(r.unexpected_bytes) : "?") },
];

export function MessageSizes() {
  if (!model.report.sizes?.length) return null;
  return (
    <DataTable
      id="table-sizes" title="Message sizes" about={`and messages that arrived before their receive was posted; ${WHOLE}`} columns={SIZES}
      rows={model.report.sizes} sort="size" limit={32}
    />
  );
}

const PROTOCOLS: Column<Protocol>[] = [
  { id: "function", label: "MPI function", words: true, value: (r) => r.function ?? model.outside },
  { id: "op", label: "UCP operation", words: true, value: (r) => r.op },
  { id: "locality", label: "Locality", words: true, value: (r) => r.locality },
  { id: "memory", label: "Memory", words: true, value: (r) => r.memory ?? "unknown" },
  { id: "protocol", label: "Protocol", words: true, value: (r) => r.protocol },
  { id: "least", label: "Smallest", value: (r) => r.least_bytes, show: (r) => bytes(r.least_bytes) },
  { id: "most", label: "Largest", value: (r) => r.most_bytes, show: (r) => bytes(r.most_bytes) },
  { id: "count", label: "Count", value: (r) => r.count, show: (r) => count(r.count) },
  { id: "bytes", label: "Bytes", value: (r) => r.bytes, show: (r) => bytes(r.bytes) },
];

export function Protocols() {
  if (!model.report.protocols?.length) return null;
  return (
    <DataTable
      id="table-protocols" title="Protocols by size" about={`the sizes that each was used for: where UCX switches; ${WHOLE}`} columns={PROTOCOLS}
      rows={model.report.protocols} sort="function" rowTitle="show this function alone" onRow={(r) => chooseFunction(r.function)}
    />
  );
}
