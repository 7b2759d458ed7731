// SPDX-License-Identifier: BSD-3-Clause
// Dimensions for filters. A dimension selects among facts that have it and leaves the others alone,
// as the options of `replay` do.
import type { Facts, Model, Sort } from "./model";
import { bytes } from "../ui/format";

export interface Dim {
  id: string;
  label: string;
  // For each sort of fact that has the dimension, codes per key: one of them must be wanted.
  columns: Partial<Record<Sort, Uint32Array[]>>;
  values: string[]; // by code
  titles?: string[];
}

const LOCALITIES = ["unknown", "self", "node", "remote"];
const KINDS = ["data", "control", "copy"];

type Words = (code: number) => string;

interface Row {
  id: string;
  label: string;
  columns: Partial<Record<Sort, string[]>>;
}

const WORDS: Row[] = [
  { id: "transport", label: "Transport", columns: { transfers: ["transport"] } },
  { id: "device", label: "Device", columns: { transfers: ["device"] } },
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

// Two columns become one, of the pairs that occur.
function paired(facts: Facts, first: string, second: string, word: Words): { codes: Uint32Array; values: string[] } {
  const [a, b] = [facts.column(first), facts.column(second)];
  const seen = new Map<string, number>();
  const codes = new Uint32Array(facts.keys);
  for (let i = 0; i < facts.keys; i++) {
    const text = `${word(a[i])} → ${word(b[i])}`;
    let code = seen.get(text);
    if (code === undefined) seen.set(text, (code = seen.size));
    codes[i] = code;
  }
  return { codes, values: [...seen.keys()] };
}

export function sizeLabel(code: number): string {
  if (code === 0) return "unknown";
  if (code === 1) return "0 B";
  const low = 2 ** (code - 2);
  return code === 2 ? "1 B" : `${bytes(low)} – ${bytes(2 * low - 1)}`;
}

export function allDims(model: Model): Dim[] {
  const { names, places, facts, labels, hostLabels } = model;
  const absent = (id: string) => (id === "function" ? "outside MPI" : id === "ucp-op" ? "no operation" : "unknown");
  const dims: Dim[] = [
    { id: "kind", label: "Kind", columns: { transfers: [facts.transfers.column("kind")] }, values: KINDS },
  ];
  for (const row of WORDS) {
    const values = names.map((name) => name ?? absent(row.id));
    dims.push({ id: row.id, label: row.label, columns: columnsOf(model, row), values });
  }
  const memory = paired(facts.transfers, "src_mem", "dst_mem", (code) => names[code] ?? "unknown");
  dims.push({ id: "memory", label: "Memory", columns: { transfers: [memory.codes] }, values: memory.values });
  dims.push({
    id: "locality", label: "Locality", columns: { transfers: [facts.transfers.column("locality")] },
    values: LOCALITIES,
  });
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
    columns: { calls: place("calls"), ops: place("ops"), transfers: place("transfers") },
    values: places.map((at) => at?.label ?? "none or unknown"),
    titles: places.map((at) => (at ? [at.label, at.demangled, at.symbol, at.module, at.offset].filter(Boolean).join(" · ") : "")),
  });
  return dims;
}
