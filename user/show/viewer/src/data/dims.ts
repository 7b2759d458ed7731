// SPDX-License-Identifier: BSD-3-Clause
// Dimensions for filters. A dimension selects among facts that have it, and selects the causes of such facts, as the
// options of `replay` do.
import type { Model, Sort } from "./model";
import { bytes } from "../ui/format";

export interface Dim {
  id: string;
  label: string;
  // For each sort of fact that has the dimension, codes per key: one of them must be wanted.
  columns: Partial<Record<Sort, Uint32Array[]>>;
  caused?: Uint32Array[]; // likewise of what facts caused; none: it selects nothing else than facts that have it
  values: string[]; // by code
  titles?: string[];
}

const LOCALITIES = ["unknown", "self", "node", "remote"];
const KINDS = ["data", "control", "copy"];

interface Row {
  id: string;
  label: string;
  columns: Partial<Record<Sort, string[]>>;
}

const WORDS: Row[] = [
  { id: "transport", label: "Transport", columns: { transfers: ["transport"] } },
  { id: "device", label: "Device", columns: { transfers: ["device"] } },
  { id: "data-path", label: "Data path", columns: { transfers: ["data_path"] } },
  { id: "initiator", label: "Started by", columns: { transfers: ["initiator"] } },
  { id: "op", label: "UCT operation", columns: { transfers: ["op"] } },
  {
    id: "ucp-op", label: "UCP operation",
    columns: { ops: ["ucp_op"], transfers: ["ucp_op"], messages: ["ucp_op"] },
  },
  {
    id: "function", label: "MPI function",
    columns: { calls: ["function"], ops: ["function"], transfers: ["function"], messages: ["function"] },
  },
  { id: "protocol", label: "Protocol", columns: { ops: ["protocol"], transfers: ["protocol"] } },
  {
    id: "memory", label: "Memory",
    columns: { ops: ["memory"], transfers: ["src_mem", "dst_mem"], messages: ["src_mem", "dst_mem"] },
  },
];

const PROCESSES: Row[] = [
  {
    id: "process", label: "Process",
    columns: { calls: ["process"], ops: ["process"], transfers: ["process"], messages: ["src", "dst"] },
  },
  { id: "src", label: "From process", columns: { transfers: ["src"], messages: ["src"] } },
  { id: "dst", label: "To process", columns: { transfers: ["dst"], messages: ["dst"] } },
];

function columnsOf(model: Model, row: Row): Dim["columns"] {
  const out: Dim["columns"] = {};
  for (const [sort, names] of Object.entries(row.columns) as [Sort, string[]][])
    out[sort] = names.map((name) => model.facts[sort].column(name));
  return out;
}

// Two columns of words become one, of the pairs that occur.
class PairCodes {
  readonly values: string[] = [];
  private seen = new Map<string, number>();

  constructor(private names: (string | null)[]) {}

  of(first: Uint32Array, second: Uint32Array): Uint32Array {
    return first.map((code, i) => {
      const text = `${this.names[code] ?? "unknown"} → ${this.names[second[i]] ?? "unknown"}`;
      let pair = this.seen.get(text);
      if (pair === undefined) {
        this.seen.set(text, (pair = this.values.length));
        this.values.push(text);
      }
      return pair;
    });
  }
}

export function sizeLabel(code: number): string {
  if (code === 0) return "unknown";
  if (code === 1) return "0 B";
  const low = 2 ** (code - 2);
  return code === 2 ? "1 B" : `${bytes(low)} – ${bytes(2 * low - 1)}`;
}

export function allDims(model: Model): Dim[] {
  const { names, places, facts, causes, labels, hostLabels, outside } = model;
  const absent = (id: string) => (id === "function" ? outside : id === "ucp-op" ? "no operation" : "unknown");
  const ofTransfers = (id: string, label: string, values: string[]): Dim =>
    ({ id, label, columns: { transfers: [facts.transfers.column(id)] }, caused: [causes.column(id)], values });
  const dims = [ofTransfers("kind", "Kind", KINDS)];
  for (const row of WORDS) {
    const values = names.map((name) => name ?? absent(row.id));
    dims.push({ id: row.id, label: row.label, columns: columnsOf(model, row), caused: row.columns.transfers!.map((name) => causes.column(name)), values });
  }
  const pairs = new PairCodes(names);
  const [moved, caused] = [facts.transfers, causes].map((of) => pairs.of(of.column("src_mem"), of.column("dst_mem")));
  dims.push({ id: "memories", label: "Memory, from → to", columns: { transfers: [moved] }, caused: [caused], values: pairs.values });
  dims.push(ofTransfers("locality", "Locality", LOCALITIES));
  const titles = labels.map((_, code) => model.longLabel(code));
  for (const row of PROCESSES)
    dims.push({ id: row.id, label: row.label, columns: columnsOf(model, row), values: labels, titles });
  const hosts: Dim["columns"] = {};
  for (const [sort, columns] of Object.entries(dims.at(-3)!.columns) as [Sort, Uint32Array[]][])
    hosts[sort] = columns.map((column) => model.hostsOf(column));
  dims.push({ id: "host", label: "Host", columns: hosts, values: hostLabels });
  const place = (sort: Sort) => [facts[sort].column("place")];
  dims.push({
    id: "call-site", label: "Call site",
    columns: { calls: place("calls"), ops: place("ops"), transfers: place("transfers") }, caused: [causes.column("place")],
    values: places.map((at) => at?.label ?? "none or unknown"),
    titles: places.map((at) => (at ? [at.label, at.demangled, at.symbol, at.module, at.offset].filter(Boolean).join(" · ") : "")),
  });
  return dims;
}
