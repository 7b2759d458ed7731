// SPDX-License-Identifier: BSD-3-Clause
// Nodes and edges of both graphs. Processes: who sends to whom. Devices: the same transfers, drawn
// over the NICs and GPUs that they used.
import type { ElementDefinition } from "cytoscape";
import type { View } from "../data/engine";
import type { Model } from "../data/model";
import { transportColour } from "../ui/colours";

export type Which = "process" | "device";

export interface Edge {
  from: string;
  to: string;
  transport: string;
  bytes: number;
  count: number;
  pairs: Set<number>; // of processes, pairId()
}

const WIDE = 2 ** 22; // more processes than that there are not

// Of two codes of processes.
export function pairId(src: number, dst: number): number {
  return src * WIDE + dst;
}

export function pairEnds(id: number): [number, number] {
  return [Math.floor(id / WIDE), id % WIDE];
}

export interface Node {
  id: string;
  label: string;
  title: string;
  kind: "process" | "gpu" | "nic" | "somenic" | "host" | "unknown";
  parent: string | null;
  process: number; // code, of processes
  sent: number;
  received: number;
}

export interface Graph {
  nodes: Map<string, Node>;
  edges: Map<string, Edge>;
  left: number; // edges that were not drawn, least first
  merged: boolean; // the processes of a host are one node
}

// Memory that no network card is in the way of: the transports that stay within a host.
const WITHIN = /^(posix|sysv|xpmem|self|cma|knem|cuda_|gdr_copy|rocm_|ze_)/;
const MOST_EDGES = 800;
const MOST_PROCESSES = 128; // with a node each

class Builder {
  readonly graph: Graph;
  private processes: string[] = []; // nodes' ids, by code

  constructor(readonly model: Model, merged: boolean) {
    this.graph = { nodes: new Map(), edges: new Map(), left: 0, merged };
  }

  private node(id: string, make: () => Omit<Node, "id" | "sent" | "received">): string {
    if (!this.graph.nodes.has(id)) this.graph.nodes.set(id, { id, sent: 0, received: 0, ...make() });
    return id;
  }

  host(code: number): string {
    const label = this.model.hostLabels[code] ?? "unknown";
    return this.node(`h${code}`, () => ({ label, title: `host ${label}`, kind: "host", parent: null, process: 0 }));
  }

  process(code: number): string {
    return (this.processes[code] ??= this.addProcess(code));
  }

  private addProcess(code: number): string {
    const { model } = this;
    if (!code) return this.node("p0", () => ({ label: "unknown", title: "processes that are not known", kind: "unknown", parent: null, process: 0 }));
    const host = model.hostOf(code);
    const parent = this.host(host);
    if (this.graph.merged) {
      const title = `processes on ${model.hostLabels[host]}`;
      return this.node(`m${host}`, () => ({ label: "all", title, kind: "process", parent, process: 0 }));
    }
    return this.node(`p${code}`, () => ({
      label: model.labels[code], title: model.longLabel(code), kind: "process", parent, process: code,
    }));
  }

  // A GPU that the host's list does not have is numbered by its process: two of one name may differ.
  gpu(process: number, name: string): string {
    const host = this.model.hostOf(process);
    const parent = this.host(host);
    const { merged } = this.graph;
    const listed = this.model.report.devices?.find((gpu) => gpu.host === host - 1 && gpu.name === name);
    if (listed && !merged) {
      const what = listed.model ? ` (${listed.model})` : "";
      return this.node(`g${host}/${name}`, () => ({
        label: name, title: `${name}${what} on ${this.model.hostLabels[host]}`, kind: "gpu", parent, process,
      }));
    }
    const title = merged ? `GPUs on ${this.model.hostLabels[host]}` : `${name} of ${this.model.longLabel(process)}`;
    return this.node(merged ? `g${host}` : `g${process}/${name}`, () => ({
      label: merged ? "GPUs" : name, title, kind: "gpu", parent, process: merged ? 0 : process,
    }));
  }

  nic(process: number, device: string | null): string {
    const host = this.model.hostOf(process);
    const parent = this.host(host);
    const title = device ?? "a device that is not known";
    return this.node(`n${host}/${device ?? ""}`, () => ({
      label: device ?? "?", title: `${title} on ${this.model.hostLabels[host]}`, kind: device ? "nic" : "somenic", parent,
      process: 0,
    }));
  }

  edge(from: string, to: string, transport: string, bytes: number, count: number, pair: number) {
    const id = `${from}>${to}/${transport}`;
    let edge = this.graph.edges.get(id);
    if (!edge) this.graph.edges.set(id, (edge = { from, to, transport, bytes: 0, count: 0, pairs: new Set() }));
    edge.bytes += bytes;
    edge.count += count;
    edge.pairs.add(pair);
  }

  add(src: string, dst: string, bytes: number, count: number, by: "bytes" | "count") {
    this.graph.nodes.get(src)!.sent += by === "bytes" ? bytes : count;
    this.graph.nodes.get(dst)!.received += by === "bytes" ? bytes : count;
  }
}

let seenDevices: Map<string, Set<number>> | null = null;

// UCX says the device of the end that starts a transfer. The other end's is known if that process has
// used one device alone to reach this one over the same transport, for data or control.
function farDevice(model: Model, process: number, peer: number, transport: number): string | null {
  if (!seenDevices) {
    seenDevices = new Map();
    const f = model.facts.transfers;
    const [who, whom, over, device] = ["process", "peer", "transport", "device"].map((name) => f.column(name));
    for (let i = 0; i < f.keys; i++) {
      const id = `${who[i]}/${whom[i]}/${over[i]}`;
      const seen = seenDevices.get(id) ?? new Set();
      seenDevices.set(id, seen.add(device[i]));
    }
  }
  const seen = seenDevices.get(`${process}/${peer}/${transport}`);
  return seen?.size === 1 ? model.names[[...seen][0]] : null;
}

function end(build: Builder, process: number, memory: string | null): string {
  return process && memory && /^gpu\d+$/.test(memory) ? build.gpu(process, memory) : build.process(process);
}

export function graphOf(model: Model, view: View, which: Which, by: "bytes" | "count"): Graph {
  const f = model.facts.transfers;
  const columns = ["src", "dst", "transport", "device", "src_mem", "dst_mem", "process"].map((name) => f.column(name));
  const { rows, codes, sums } = view.sumsBy("transfers", columns, ["bytes", "count"]);
  const active = new Set<number>();
  for (const row of rows) active.add(codes[0][row]).add(codes[1][row]);
  const build = new Builder(model, active.size > MOST_PROCESSES);
  // In order of rank, also those that are silent.
  const all = [...model.report.processes].sort((a, b) => (a.rank ?? 1e9) - (b.rank ?? 1e9) || a.id - b.id);
  if (all.length <= MOST_PROCESSES) all.forEach((process) => build.process(process.id + 1));
  const device_graph = which === "device";
  for (const row of rows) {
    const [src, dst] = [codes[0][row], codes[1][row]];
    const name = model.names[codes[2][row]] ?? "unknown";
    const device = model.names[codes[3][row]];
    const [bytes, count] = [sums[0][row], sums[1][row]];
    const pair = pairId(src, dst);
    const from = device_graph ? end(build, src, model.names[codes[4][row]]) : build.process(src);
    const to = device_graph ? end(build, dst, model.names[codes[5][row]]) : build.process(dst);
    build.add(from, to, bytes, count, by);
    if (!device_graph || WITHIN.test(name) || !device || !src || !dst) {
      build.edge(from, to, name, bytes, count, pair);
      continue;
    }
    // The device is the one of the end that started the transfer, which of a get is where the data go.
    const starts = codes[6][row];
    const other = starts === src ? dst : src;
    const near = build.nic(starts, device);
    const far = build.nic(other, farDevice(model, other, starts, codes[2][row]));
    const [first, second] = starts === src ? [near, far] : [far, near];
    build.edge(from, first, name, bytes, count, pair);
    if (first !== second) build.edge(first, second, name, bytes, count, pair);
    build.edge(second, to, name, bytes, count, pair);
  }
  const { graph } = build;
  const amount = (edge: Edge) => (by === "bytes" ? edge.bytes : edge.count);
  const drawn = [...graph.edges].sort((a, b) => amount(b[1]) - amount(a[1])).slice(0, MOST_EDGES);
  graph.left = graph.edges.size - drawn.length;
  graph.edges = new Map(drawn);
  return graph;
}

// Between 0.8 and 6 px, by the order of magnitude.
export function widthOf(value: number, most: number): number {
  if (!(value > 0) || !(most > 0)) return 0.8;
  const decades = Math.log10(most / value);
  return Math.max(0.8, 6 - 1.3 * decades);
}

export function nodeElements(graph: Graph): ElementDefinition[] {
  return [...graph.nodes.values()].map((node) => ({
    data: { id: node.id, label: node.label, kind: node.kind, ...(node.parent ? { parent: node.parent } : {}) },
  }));
}

export function edgeElements(graph: Graph, by: "bytes" | "count"): ElementDefinition[] {
  const amount = (edge: Edge) => (by === "bytes" ? edge.bytes : edge.count);
  const most = Math.max(0, ...[...graph.edges.values()].map(amount));
  return [...graph.edges].map(([id, edge]) => ({
    data: {
      id, source: edge.from, target: edge.to, colour: transportColour(edge.transport), transport: edge.transport,
      bytes: edge.bytes, count: edge.count, width: widthOf(amount(edge), most),
    },
  }));
}
