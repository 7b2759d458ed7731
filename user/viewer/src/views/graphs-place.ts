// SPDX-License-Identifier: BSD-3-Clause
// Where nodes lie. Processes of a host in a circle, few hosts in a ring, more in a grid; in the device graph each host has
// its processes in a row, their GPUs above, its NICs below. The same graph always looks the same.
import type { Graph, Node, Which } from "./graphs-model";

export type Place = { x: number; y: number };

const STEP = 92;

function circle(nodes: Node[]): Map<string, Place> {
  const radius = nodes.length < 2 ? 0 : Math.max(110, (nodes.length * 60) / (2 * Math.PI));
  return new Map(nodes.map((node, i) => {
    const angle = (2 * Math.PI * i) / nodes.length - Math.PI / 2;
    return [node.id, { x: radius * Math.cos(angle), y: radius * Math.sin(angle) }];
  }));
}

// How far a row's node is off its line, so that what joins the ends does not pass behind the middle.
function bow(i: number, nodes: number): number {
  const half = (nodes - 1) / 2;
  return nodes < 3 ? 0 : 40 * (1 - ((i - half) / half) ** 2);
}

function rows(nodes: Node[]): Map<string, Place> {
  const out = new Map<string, Place>();
  const processes = nodes.filter((node) => node.kind === "process" || node.kind === "unknown");
  const across = Math.max(1, Math.ceil(Math.sqrt(processes.length * 4)));
  const column = new Map(processes.map((node, i) => [node.process, i % across]));
  const lines = Math.ceil(processes.length / across);
  const inLine = (line: number) => Math.min(across, processes.length - line * across);
  processes.forEach((node, i) => {
    const line = Math.floor(i / across);
    out.set(node.id, { x: (i % across) * STEP, y: line * STEP * 2 + bow(i % across, inLine(line)) });
  });
  const above = new Map<number, number>();
  for (const node of nodes.filter((n) => n.kind === "gpu")) {
    const line = Math.floor(processes.findIndex((p) => p.process === node.process) / across);
    const n = above.get(node.process) ?? 0;
    above.set(node.process, n + 1);
    const at = column.get(node.process) ?? 0;
    out.set(node.id, { x: at * STEP + n * 44, y: line * STEP * 2 - STEP - bow(at, inLine(line)) });
  }
  const nics = nodes.filter((node) => node.kind === "nic" || node.kind === "somenic");
  // Beside a lone process, which is else in the way to hosts above.
  const wide = Math.max(1, Math.min(processes.length, across) - 1) * STEP;
  const apart = Math.max(STEP, nics.length > 1 ? wide / (nics.length - 1) : 0);
  nics.forEach((node, i) => out.set(node.id, { x: wide / 2 + (i - (nics.length - 1) / 2) * apart, y: lines * STEP * 2 - STEP + 20 }));
  return out;
}

function extent(places: Map<string, Place>): { left: number; top: number; width: number; height: number } {
  const xs = [...places.values()].map((place) => place.x);
  const ys = [...places.values()].map((place) => place.y);
  const [left, top] = [Math.min(0, ...xs), Math.min(0, ...ys)];
  return { left, top, width: Math.max(0, ...xs) - left, height: Math.max(0, ...ys) - top };
}

function byParent(graph: Graph): Map<string, Node[]> {
  const out = new Map<string, Node[]>();
  for (const node of graph.nodes.values()) {
    if (node.kind === "host") continue;
    const parent = node.parent?.id ?? "";
    out.set(parent, [...(out.get(parent) ?? []), node]);
  }
  return out;
}

const RING = 8; // hosts: what joins two of them passes behind no other

// Where hosts of one size begin: left to right, or in a ring without an overlap, the first one at its top left.
function slots(hosts: number, wide: number, high: number, aspect: number): Place[] {
  const all = Array.from({ length: hosts }, (_, i) => i);
  if (hosts < 3 || hosts > RING) {
    const across = Math.max(1, Math.round(Math.sqrt((hosts * high * aspect) / wide)));
    return all.map((i) => ({ x: (i % across) * wide, y: Math.floor(i / across) * high }));
  }
  const radius = 0.65 / Math.sin(Math.PI / hosts);
  const first = -Math.PI / 2 - (hosts % 2 ? 0 : Math.PI / hosts);
  return all.map((i) => {
    const angle = first + (2 * Math.PI * i) / hosts;
    return { x: radius * wide * Math.cos(angle), y: radius * high * Math.sin(angle) };
  });
}

export function places(graph: Graph, which: Which, aspect: number): Map<string, Place> {
  const groups = [...byParent(graph)].sort((a, b) => Number(a[0] === "") - Number(b[0] === ""));
  const inner = groups.map(([, nodes]) => (which === "process" ? circle(nodes) : rows(nodes)));
  const sizes = inner.map(extent);
  const wide = Math.max(0, ...sizes.map((size) => size.width)) + 120;
  const high = Math.max(0, ...sizes.map((size) => size.height)) + 130;
  const at = slots(groups.length, wide, high, aspect);
  const out = new Map<string, Place>();
  inner.forEach((nodes, i) => {
    const { left, top, width } = sizes[i];
    const x = at[i].x - left + (wide - 120 - width) / 2;
    const y = at[i].y - top;
    for (const [id, place] of nodes) out.set(id, { x: place.x + x, y: place.y + y });
  });
  return out;
}
