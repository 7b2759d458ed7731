// SPDX-License-Identifier: BSD-3-Clause
// Where nodes lie. Processes of a host in a circle, few hosts in a ring, more along the sides of a rectangle, around the
// edges that join them; in the device graph each host has its processes in a row, their GPUs on one side, its NICs on the
// other, towards the other hosts. The same graph always looks the same.
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

const BOW = 72; // so much that what joins neighbours parts from what joins the ends

// How far a row's node is off its line, so that what joins the ends does not pass behind the middle.
function bow(i: number, nodes: number): number {
  const half = (nodes - 1) / 2;
  return nodes < 3 ? 0 : BOW * (1 - ((i - half) / half) ** 2);
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
    const list = out.get(parent);
    if (list) list.push(node);
    else out.set(parent, [node]);
  }
  return out;
}

const RING: Record<Which, number> = { process: 16, device: 8 }; // hosts: what joins two of them passes behind no other
const WIDEST = 2; // times its height, where the room is wide

type Turn = 0 | 1 | 2 | 3; // times 90 degrees: NICs below, to the left, above, to the right

interface Slot extends Place {
  turn: Turn;
}

// Two hosts beside each other, or a ring of them without an overlap, the first one at its top left.
function ring(hosts: number, wide: number, high: number, aspect: number): Place[] {
  const all = Array.from({ length: hosts }, (_, i) => i);
  if (hosts < 3) {
    const across = Math.max(1, Math.round(Math.sqrt((hosts * high * aspect) / wide)));
    return all.map((i) => ({ x: (i % across) * wide, y: Math.floor(i / across) * high }));
  }
  const radius = 0.65 / Math.sin(Math.PI / hosts);
  const first = -Math.PI / 2 - (hosts % 2 ? 0 : Math.PI / hosts);
  const across = Math.min(WIDEST, Math.max(1, (aspect * high) / wide));
  return all.map((i) => {
    const angle = first + (2 * Math.PI * i) / hosts;
    return { x: across * radius * wide * Math.cos(angle), y: radius * high * Math.sin(angle) };
  });
}

const INSIDE = 3; // times the depth of a host: room for edges, at least

// How many hosts each of the four sides has, from the top on clockwise, so that all are as large as the room allows.
function sides(hosts: number, wide: number, high: number, aspect: number): number[] {
  let best = [hosts, 0, 0, 0];
  let most = 0;
  for (let beside = 0; 2 * beside <= hosts - 2; beside++) {
    const [top, bottom] = [Math.ceil((hosts - 2 * beside) / 2), Math.floor((hosts - 2 * beside) / 2)];
    const height = 2 * high + Math.max(beside * wide, INSIDE * high);
    const zoom = Math.min(aspect / (top * wide + 2 * high), 1 / height);
    if (zoom > most) [most, best] = [zoom, [top, beside, bottom, beside]];
  }
  return best;
}

// Along the sides of a rectangle, clockwise from its top left, all NICs inwards.
function around(hosts: number, wide: number, high: number, aspect: number): Slot[] {
  const [top, right, bottom, left] = sides(hosts, wide, high, aspect);
  const inside = Math.max(right * wide, INSIDE * high);
  const span = (n: number, room: number, i: number) => (room * (i + 0.5)) / n - wide / 2;
  const list = (n: number, of: (i: number) => Slot) => Array.from({ length: n }, (_, i) => of(i));
  return [
    ...list(top, (i): Slot => ({ x: high + span(top, top * wide, i), y: 0, turn: 0 })),
    ...list(right, (i): Slot => ({ x: high + top * wide, y: high + span(right, inside, i), turn: 1 })),
    ...list(bottom, (i): Slot => ({ x: high + span(bottom, top * wide, bottom - 1 - i), y: high + inside, turn: 2 })),
    ...list(left, (i): Slot => ({ x: 0, y: high + span(left, inside, left - 1 - i), turn: 3 })),
  ];
}

// A place within a host of that size, of which the NICs are at the lower side.
function turned({ x, y }: Place, turn: Turn, height: number): Place {
  if (turn === 1) return { x: height - y, y: x };
  if (turn === 2) return { x, y: height - y };
  return turn === 3 ? { x: y, y: x } : { x, y };
}

// Whether hosts lie around their edges, which are bent inwards then.
export function areAround(graph: Graph, which: Which): boolean {
  let hosts = 0;
  for (const node of graph.nodes.values()) if (node.kind === "host" || !node.parent) hosts++;
  return hosts > RING[which];
}

export function places(graph: Graph, which: Which, aspect: number): Map<string, Place> {
  const groups = [...byParent(graph)].sort((a, b) => Number(a[0] === "") - Number(b[0] === ""));
  const inner = groups.map(([, nodes]) => (which === "process" ? circle(nodes) : rows(nodes)));
  const sizes = inner.map(extent);
  const wide = Math.max(0, ...sizes.map((size) => size.width)) + 120;
  const high = Math.max(0, ...sizes.map((size) => size.height)) + 130;
  const at: Slot[] = areAround(graph, which) ? around(groups.length, wide, high, aspect) : inRing(ring(groups.length, wide, high, aspect), which);
  const out = new Map<string, Place>();
  inner.forEach((nodes, i) => {
    const { left, top, width, height } = sizes[i];
    const { x, y, turn } = at[i];
    const [across, down] = turn % 2 ? [0, (wide - 120 - width) / 2] : [(wide - 120 - width) / 2, 0];
    for (const [id, place] of nodes) {
      const own = turned({ x: place.x - left, y: place.y - top }, turn, height);
      out.set(id, { x: x + across + own.x, y: y + down + own.y });
    }
  });
  return out;
}

// NICs of hosts in the lower half are above, towards those of the upper half.
function inRing(at: Place[], which: Which): Slot[] {
  const middle = (Math.min(...at.map(({ y }) => y)) + Math.max(...at.map(({ y }) => y))) / 2;
  return at.map((place) => ({ ...place, turn: which === "device" && place.y > middle + 1 ? 2 : 0 }));
}
