// SPDX-License-Identifier: BSD-3-Clause
// Nodes and edges of both graphs. Processes: who sends to whom. Devices: the same transfers, drawn
// over the NICs and GPUs that they used.
import { Combinations, combinationsOf } from "../data/combinations";
import type { View } from "../data/view";
import type { Model } from "../data/model";
import { ends } from "../data/pairs";

export type Which = "process" | "device";
export type Nodes = "auto" | "process" | "host";

export interface Node {
  id: string;
  label: string;
  title: string;
  kind: "process" | "gpu" | "nic" | "somenic" | "host" | "unknown";
  parent: Node | null;
  process: number; // code, of processes
}

export interface Edge {
  from: Node;
  to: Node;
  transport: string;
  bytes: number;
  count: number;
  rows: number[]; // of the graph's codes, that it is made of
}

export interface Graph {
  nodes: Map<string, Node>;
  edges: Edge[]; // largest first
  left: { edges: number; bytes: number; count: number }; // not drawn, the smallest ones
  pairs: number; // of processes
  merged: boolean; // the processes of a host are one node
  columns: Uint32Array[]; // of the transfers, that distinguish rows
  codes: Uint32Array[]; // of each column, by row
}

// Memory that no network card is in the way of: the transports that stay within a host.
const WITHIN = /^(posix|sysv|xpmem|self|cma|knem|cuda_|gdr_copy|rocm_|ze_)/;
const MOST_EDGES = 800;
const MOST_PROCESSES = 128; // with a node each, where the reader wants them
const FEW_PROCESSES = 24; // above, those of a host are one node unless the reader wants them

class Builder {
  readonly nodes = new Map<string, Node>();
  private processes: Node[] = []; // by code of the process, or of its host

  constructor(readonly model: Model, readonly merged: boolean) {}

  private node(id: string, make: () => Omit<Node, "id">): Node {
    let node = this.nodes.get(id);
    if (!node) this.nodes.set(id, (node = { id, ...make() }));
    return node;
  }

  private hostOf(code: number): number {
    return this.merged ? code : this.model.hostOf(code);
  }

  host(code: number): Node {
    const label = this.model.hostLabels[code] ?? "unknown";
    return this.node(`h${code}`, () => ({ label, title: `host ${label}`, kind: "host", parent: null, process: 0 }));
  }

  end(code: number): Node {
    return (this.processes[code] ??= this.addEnd(code));
  }

  private addEnd(code: number): Node {
    const { model } = this;
    if (!code) return this.node("p0", () => ({ label: "unknown", title: "processes that are not known", kind: "unknown", parent: null, process: 0 }));
    const host = this.hostOf(code);
    const parent = this.host(host);
    if (this.merged) {
      const title = `processes on ${model.hostLabels[host]}`;
      return this.node(`m${host}`, () => ({ label: "all", title, kind: "process", parent, process: 0 }));
    }
    return this.node(`p${code}`, () => ({
      label: model.labels[code], title: model.longLabel(code), kind: "process", parent, process: code,
    }));
  }

  // A GPU that the host's list does not have is numbered by its process: two of one name may differ.
  private gpu(code: number, name: string): Node {
    const host = this.hostOf(code);
    const parent = this.host(host);
    const on = this.model.hostLabels[host];
    if (this.merged) return this.node(`g${host}`, () => ({ label: "GPUs", title: `GPUs on ${on}`, kind: "gpu", parent, process: 0 }));
    const listed = this.model.report.devices?.find((gpu) => gpu.host === host - 1 && gpu.name === name);
    const title = listed ? `${name}${listed.model ? ` (${listed.model})` : ""} on ${on}` : `${name} of ${this.model.longLabel(code)}`;
    return this.node(listed ? `g${host}/${name}` : `g${code}/${name}`, () => ({ label: name, title, kind: "gpu", parent, process: code }));
  }

  // The location of data: a GPU, else the process, for host memory and unknown memory.
  memory(code: number, memory: string | null): Node {
    return code && memory && /^gpu\d+$/.test(memory) ? this.gpu(code, memory) : this.end(code);
  }

  nic(code: number, device: string | null): Node {
    const host = this.hostOf(code);
    const title = `${device ?? "a device that is not known"} on ${this.model.hostLabels[host]}`;
    return this.node(`n${host}/${device ?? ""}`, () => ({
      label: device ?? "?", title, kind: device ? "nic" : "somenic", parent: this.host(host), process: 0,
    }));
  }
}

// By key: the device of the end that did not start it, 0 unknown, and whether the sender started it.
let sides: { far: Uint32Array; bySender: Uint32Array } | null = null;

// UCX says the device of the end that starts a transfer. The other end's is known if that process has
// used one device alone to reach this one over the same transport, for data or control.
function sidesOf(model: Model): { far: Uint32Array; bySender: Uint32Array } {
  if (sides) return sides;
  const f = model.facts.transfers;
  const [who, whom, over, device, src] = ["process", "peer", "transport", "device", "src"].map((name) => f.column(name));
  const there = combinationsOf([who, whom, over]);
  const used = new Int32Array(there.length).fill(-1); // -2: several
  for (let i = 0; i < f.keys; i++) {
    const at = there.of[i];
    used[at] = used[at] === -1 || used[at] === device[i] ? device[i] : -2;
  }
  const back = new Map<string, number>();
  const [a, b, c] = there.codes;
  for (let i = 0; i < there.length; i++) back.set(`${a[i]}/${b[i]}/${c[i]}`, used[i]);
  const byPair = Uint32Array.from({ length: there.length }, (_, i) => Math.max(0, back.get(`${b[i]}/${a[i]}/${c[i]}`) ?? 0));
  return (sides = { far: there.of.map((at) => byPair[at]), bySender: who.map((code, i) => Number(code === src[i])) });
}

// A few processes get a node each, silent ones included; of many, only the active ones if these are few.
function areFew(model: Model, pairs: Combinations, present: Uint32Array, most: number): boolean {
  if (model.report.processes.length <= most) return true;
  const active = new Set<number>();
  for (const pair of present) {
    active.add(pairs.codes[0][pair]).add(pairs.codes[1][pair]);
    if (active.size > most) return false;
  }
  return true;
}

// The nodes that a row passes through, from where the data were to where they went.
type Way = (row: number) => Node[];

function deviceWay(build: Builder, model: Model, codes: Uint32Array[]): Way {
  const [src, dst, transport, device, far, bySender, srcMemory, dstMemory] = codes;
  return (row) => {
    const name = model.names[transport[row]] ?? "unknown";
    const near = model.names[device[row]];
    const ends = [build.memory(src[row], model.names[srcMemory[row]]), build.memory(dst[row], model.names[dstMemory[row]])];
    if (WITHIN.test(name) || !near || !src[row] || !dst[row]) return ends;
    const other = model.names[far[row]];
    const nics = bySender[row]
      ? [build.nic(src[row], near), build.nic(dst[row], other)] : [build.nic(src[row], other), build.nic(dst[row], near)];
    return nics[0] === nics[1] ? [ends[0], nics[0], ends[1]] : [ends[0], ...nics, ends[1]];
  };
}

export function graphOf(model: Model, view: View, which: Which, by: "bytes" | "count", nodes: Nodes): Graph {
  const f = model.facts.transfers;
  const pairs = combinationsOf([f.column("src"), f.column("dst")]);
  const present = view.met("transfers", pairs);
  const most = nodes === "auto" && model.report.hosts.length > 1 ? FEW_PROCESSES : MOST_PROCESSES;
  const merged = nodes === "host" || !areFew(model, pairs, present, most);
  const [src, dst] = (["src", "dst"] as const).map((end) => ends(model, f, end, merged ? "host" : "process"));
  const { far, bySender } = sidesOf(model);
  const parts = which === "process" ? [] : [f.column("device"), far, bySender, f.column("src_mem"), f.column("dst_mem")];
  const columns = [src, dst, f.column("transport"), ...parts];
  const { rows, codes, sums } = view.sumsBy("transfers", columns, ["bytes", "count"]);
  const build = new Builder(model, merged);
  const all = [...model.report.processes].sort((a, b) => (a.rank ?? 1e9) - (b.rank ?? 1e9) || a.id - b.id);
  if (merged) model.hosts.forEach((host) => build.end(host.id + 1));
  else if (all.length <= MOST_PROCESSES) all.forEach((process) => build.end(process.id + 1));
  const way: Way = which === "process"
    ? (row) => [build.end(codes[0][row]), build.end(codes[1][row])] : deviceWay(build, model, codes);
  const found = new Map<Node, Map<Node, Map<number, Edge>>>();
  const edges: Edge[] = [];
  const add = (from: Node, to: Node, row: number) => {
    let there = found.get(from);
    if (!there) found.set(from, (there = new Map()));
    let over = there.get(to);
    if (!over) there.set(to, (over = new Map()));
    let edge = over.get(codes[2][row]);
    if (!edge) {
      edge = { from, to, transport: model.names[codes[2][row]] ?? "unknown", bytes: 0, count: 0, rows: [] };
      over.set(codes[2][row], edge);
      edges.push(edge);
    }
    edge.bytes += sums[0][row];
    edge.count += sums[1][row];
    edge.rows.push(row);
  };
  for (const row of rows) {
    const nodes = way(row);
    for (let i = 1; i < nodes.length; i++) add(nodes[i - 1], nodes[i], row);
  }
  edges.sort((a, b) => b[by] - a[by]);
  const left = { edges: Math.max(0, edges.length - MOST_EDGES), bytes: 0, count: 0 };
  for (const edge of edges.slice(MOST_EDGES)) {
    left.bytes += edge.bytes;
    left.count += edge.count;
  }
  return { nodes: build.nodes, edges: edges.slice(0, MOST_EDGES), left, pairs: present.length, merged, columns, codes };
}

// The pairs of processes whose transfers an edge stands for.
export function pairsOf(view: View, graph: Graph, edge: Edge): [number, number][] {
  const f = view.facts("transfers");
  const pairs = combinationsOf([f.column("src"), f.column("dst")]);
  const all = combinationsOf(graph.columns);
  const words = (codes: Uint32Array[], at: number) => codes.map((column) => column[at]).join();
  const wanted = new Set(edge.rows.map((row) => words(graph.codes, row)));
  const own = Uint8Array.from({ length: all.length }, (_, at) => Number(wanted.has(words(all.codes, at))));
  const out = new Set<number>();
  const { table, at } = view.rows("transfers");
  for (const row of at) if (own[all.of[table.key[row]]]) out.add(pairs.of[table.key[row]]);
  return Array.from(out, (pair) => [pairs.codes[0][pair], pairs.codes[1][pair]]);
}

// Between 0.8 and 6 px, by the order of magnitude.
export function widthOf(value: number, most: number): number {
  if (!(value > 0) || !(most > 0)) return 0.8;
  const decades = Math.log10(most / value);
  return Math.max(0.8, 6 - 1.3 * decades);
}
