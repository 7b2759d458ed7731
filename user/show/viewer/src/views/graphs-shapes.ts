// SPDX-License-Identifier: BSD-3-Clause
// The shapes of a graph, and hit tests. Lengths are in units of the graph, not of the screen.
import { Edge, Graph, Node, widthOf } from "./graphs-model";
import { ports } from "./graphs-ports";
import type { Place } from "./graphs-place";

export interface Look {
  x: number; // px at which the graph's origin lies
  y: number;
  zoom: number;
}

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

// A curve from `from` to `to`, bent towards `by` (one point of a quadratic one, two of a loop).
export interface Curve {
  edge: Edge;
  width: number;
  from: Place;
  by: Place[];
  to: Place;
}

export interface Geometry {
  around: boolean; // hosts lie around what joins them
  graph: Graph;
  places: Map<string, Place>;
  hosts: Map<Node, Box>;
  curves: Curve[];
  all: Box;
}

export const SIZES: Record<Node["kind"], [number, number]> = {
  process: [30, 30], gpu: [38, 24], nic: [28, 26], somenic: [28, 26], unknown: [56, 40], host: [0, 0],
};
const PADDING = 22; // between a host's box and its contents
const BEND = 20; // between edges that join the same two nodes

// Corners of shapes that are no circles, of the size [-1, 1].
const CORNERS: Partial<Record<Node["kind"], [number, number][]>> = {
  gpu: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
  nic: [[0, -1], [1, 1], [-1, 1]],
  somenic: [[0, -1], [1, 1], [-1, 1]],
  unknown: [[0, -1], [1, 0], [0, 1], [-1, 0]],
};

export function corners(node: Node, at: Place): Place[] {
  const [width, height] = SIZES[node.kind];
  return (CORNERS[node.kind] ?? []).map(([x, y]) => ({ x: at.x + (x * width) / 2, y: at.y + (y * height) / 2 }));
}

// Where the way from a node's middle to a point leaves its shape.
function border(node: Node, at: Place, towards: Place): Place {
  const [dx, dy] = [towards.x - at.x, towards.y - at.y];
  const length = Math.hypot(dx, dy) || 1;
  const points = corners(node, at);
  if (!points.length) {
    const radius = SIZES[node.kind][0] / 2;
    return { x: at.x + (dx * radius) / length, y: at.y + (dy * radius) / length };
  }
  let part = 1; // the shape is not further away than that
  points.forEach((a, i) => {
    const b = points[(i + 1) % points.length];
    const [ex, ey] = [b.x - a.x, b.y - a.y];
    const across = dx * ey - dy * ex;
    if (!across) return;
    const along = ((a.x - at.x) * ey - (a.y - at.y) * ex) / across;
    const beside = ((a.x - at.x) * dy - (a.y - at.y) * dx) / across;
    if (along > 0 && along < part && beside >= 0 && beside <= 1) part = along;
  });
  return { x: at.x + dx * part, y: at.y + dy * part };
}

function loop(node: Node, at: Place, n: number): [Place, Place[], Place] {
  const far = 62 + 22 * n;
  const by = [-2.05, -2.75].map((angle) => ({ x: at.x + far * Math.cos(angle), y: at.y + far * Math.sin(angle) }));
  return [border(node, at, by[0]), by, border(node, at, by[1])];
}

// Edges in opposite directions lie side by side, one per transport, whatever they carry.
function inOrder(a: Edge, b: Edge): number {
  return Number(a.from.id < a.to.id) - Number(b.from.id < b.to.id) || (a.transport < b.transport ? -1 : 1);
}

// Obstacles of an edge: all nodes except its ends.
interface Round {
  node: Node;
  x: number;
  y: number;
  radius: number;
}

const CLEAR = 4; // between an edge and a node that it passes
const STEPS = 12; // of a curve

// How near a curve from one place to another by a third one comes to some nodes, less their radius.
function nearest(a: Place, by: Place, b: Place, nodes: Round[]): number {
  let least = Infinity;
  for (let i = 1; i < STEPS; i++) {
    const t = i / STEPS;
    const [u, v, w] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
    const [x, y] = [u * a.x + v * by.x + w * b.x, u * a.y + v * by.y + w * b.y];
    for (const node of nodes) least = Math.min(least, Math.hypot(node.x - x, node.y - y) - node.radius);
  }
  return least;
}

// Nodes that a curve may meet that is bent by no more than so much.
function along(a: Place, b: Place, bent: number, nodes: Round[]): Round[] {
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const length = Math.hypot(dx, dy) || 1;
  return nodes.filter(({ x, y, radius }) => {
    const on = ((x - a.x) * dx + (y - a.y) * dy) / length;
    return on > -radius && on < length + radius && Math.abs((x - a.x) * dy - (y - a.y) * dx) / length < bent + radius;
  });
}

const BENDS = [0, 1, -1, 2, -2, 3, -3, 4, -4]; // that are tried, in turn
const MOST = 8000; // edges by nodes that are looked at: more of them cross wherever they are

// The bend of an edge: just enough to pass its obstacles.
function bend(edge: Edge, a: Place, b: Place, off: number, width: number, nodes: Round[]): Place {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const to = (by: number): Place => ({ x: (a.x + b.x) / 2 - ((b.y - a.y) / length) * by, y: (a.y + b.y) / 2 + ((b.x - a.x) / length) * by });
  const step = Math.max(2 * BEND, 0.12 * length);
  const others = along(a, b, Math.abs(off) + 1.5 * step, nodes).filter(({ node }) => node !== edge.from && node !== edge.to);
  if (!others.length) return to(off);
  for (const times of BENDS) {
    const control = to(off + times * step);
    if (nearest(a, control, b, others) > width / 2 + CLEAR) return control;
  }
  return to(off);
}

const [INWARDS, DEEPEST] = [0.6, 0.8]; // of an edge's length; of the way to the middle

// Hosts around a middle: an edge that is bent to its side passes behind none of them.
function inwards(a: Place, b: Place, off: number, middle: Place): Place {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [nx, ny] = [-(b.y - a.y) / length, (b.x - a.x) / length];
  const at = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  const far = (middle.x - at.x) * nx + (middle.y - at.y) * ny;
  const by = Math.sign(far) * Math.min(DEEPEST * Math.abs(far), INWARDS * length) + off;
  return { x: at.x + nx * by, y: at.y + ny * by };
}

function rounds(graph: Graph, places: Map<string, Place>): Round[] {
  const out: Round[] = [];
  for (const node of graph.nodes.values())
    if (node.kind !== "host") out.push({ node, ...places.get(node.id)!, radius: Math.max(...SIZES[node.kind]) / 2 });
  return graph.edges.length * out.length > MOST ? [] : out;
}

const MANY = 300; // edges: thinner ones hide less of each other, and take half the time to draw

// Edges between the same two nodes lie side by side, the further apart the longer they are.
function curves(graph: Graph, places: Map<string, Place>, by: "bytes" | "count", middle: Place | null): Curve[] {
  const beside = new Map<string, Edge[]>();
  for (const edge of graph.edges) {
    const id = edge.from.id < edge.to.id ? `${edge.from.id} ${edge.to.id}` : `${edge.to.id} ${edge.from.id}`;
    const list = beside.get(id);
    if (list) list.push(edge);
    else beside.set(id, [edge]);
  }
  const most = graph.edges.length ? graph.edges[0][by] : 0;
  const thin = graph.edges.length > MANY ? 0.5 : 1;
  const nodes = rounds(graph, places);
  const out: Curve[] = [];
  for (const list of beside.values())
    list.sort(inOrder).forEach((edge, i) => {
      const [a, b] = [places.get(edge.from.id)!, places.get(edge.to.id)!];
      const width = widthOf(edge[by], most) * thin;
      if (edge.from === edge.to) {
        const [from, control, to] = loop(edge.from, a, i);
        out.push({ edge, width, from, by: control, to });
        return;
      }
      // The same side for all of the list, whichever way an edge goes.
      const side = edge.from.id < edge.to.id ? 1 : -1;
      const length = Math.hypot(b.x - a.x, b.y - a.y);
      const place = side * (i - (list.length - 1) / 2);
      const control = middle && edge.from.parent !== edge.to.parent
        ? inwards(a, b, place * Math.max(BEND, 0.06 * length), middle)
        : bend(edge, a, b, place * Math.max(2 * BEND, 0.22 * length), width, nodes);
      out.push({ edge, width, from: border(edge.from, a, control), by: [control], to: border(edge.to, b, control) });
    });
  ports(out, places, border);
  return out;
}

function enclosing(boxes: Iterable<Box>, padding: number): Box {
  const out = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const box of boxes) {
    out.left = Math.min(out.left, box.left - padding);
    out.top = Math.min(out.top, box.top - padding);
    out.right = Math.max(out.right, box.right + padding);
    out.bottom = Math.max(out.bottom, box.bottom + padding);
  }
  return out;
}

function boxOf(node: Node, at: Place): Box {
  const [width, height] = SIZES[node.kind];
  const below = node.kind === "nic" || node.kind === "somenic" ? 14 : 0; // its name
  return { left: at.x - width / 2, top: at.y - height / 2, right: at.x + width / 2, bottom: at.y + height / 2 + below };
}

export function geometry(graph: Graph, places: Map<string, Place>, by: "bytes" | "count", around: boolean): Geometry {
  const inside = new Map<Node, Box[]>();
  const alone: Box[] = [];
  for (const node of graph.nodes.values()) {
    if (node.kind === "host") continue;
    const box = boxOf(node, places.get(node.id)!);
    if (!node.parent) alone.push(box);
    else if (inside.has(node.parent)) inside.get(node.parent)!.push(box);
    else inside.set(node.parent, [box]);
  }
  const hosts = new Map([...inside].map(([host, boxes]) => [host, enclosing(boxes, PADDING)]));
  const all = enclosing([...hosts.values(), ...alone], 0);
  const middle = { x: (all.left + all.right) / 2, y: (all.top + all.bottom) / 2 };
  all.top -= 18; // the hosts' names
  return { graph, places, hosts, around, curves: curves(graph, places, by, around ? middle : null), all };
}

// All of a graph in a place of so many px.
export function fitted({ all }: Geometry, width: number, height: number): Look {
  const margin = 20;
  const zoom = Math.min(1.6, (width - 2 * margin) / (all.right - all.left), (height - 2 * margin) / (all.bottom - all.top));
  return { zoom, x: (width - zoom * (all.left + all.right)) / 2, y: (height - zoom * (all.top + all.bottom)) / 2 };
}

function pointOf({ from, by, to }: Curve, t: number): Place {
  const u = 1 - t;
  const weights = by.length > 1 ? [u ** 3, 3 * u * u * t, 3 * u * t * t, t ** 3] : [u * u, 2 * u * t, t * t];
  const points = [from, ...by, to];
  return {
    x: points.reduce((sum, point, i) => sum + weights[i] * point.x, 0), y: points.reduce((sum, point, i) => sum + weights[i] * point.y, 0),
  };
}

const PIECES = 16;

function distance(curve: Curve, at: Place): number {
  let least = Infinity;
  let a = curve.from;
  for (let i = 1; i <= PIECES; i++) {
    const b = pointOf(curve, i / PIECES);
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const along = Math.min(1, Math.max(0, ((at.x - a.x) * dx + (at.y - a.y) * dy) / (dx * dx + dy * dy || 1)));
    least = Math.min(least, Math.hypot(at.x - a.x - along * dx, at.y - a.y - along * dy));
    a = b;
  }
  return least;
}

// A node, else the edge that is nearest, else a host.
export function under(shapes: Geometry, look: Look, x: number, y: number): Node | Edge | null {
  const at = { x: (x - look.x) / look.zoom, y: (y - look.y) / look.zoom };
  const within = ({ left, top, right, bottom }: Box) => at.x >= left && at.x <= right && at.y >= top && at.y <= bottom;
  for (const node of shapes.graph.nodes.values())
    if (node.kind !== "host" && within(boxOf(node, shapes.places.get(node.id)!))) return node;
  let [best, least]: [Edge | null, number] = [null, 4 / look.zoom];
  for (const curve of shapes.curves) {
    const far = distance(curve, at) - curve.width / 2;
    if (far < least) [best, least] = [curve.edge, far];
  }
  if (best) return best;
  for (const [host, box] of shapes.hosts) if (within(box)) return host;
  return null;
}
