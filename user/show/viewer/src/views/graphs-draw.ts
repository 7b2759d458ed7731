// SPDX-License-Identifier: BSD-3-Clause
// Drawing a graph: hosts, edges over them, nodes over these, and words over all.
import { clip } from "../ui/canvas";
import { styleColour, transportColour } from "../ui/colours";
import type { Edge, Graph, Node } from "./graphs-model";
import { ARROW } from "./graphs-ports";
import { corners, Curve, Geometry, Look, SIZES } from "./graphs-shapes";
import type { Place } from "./graphs-place";

const LEGIBLE = 4.5; // px
const MOST_WORDS = 5000;

function trace(context: CanvasRenderingContext2D, { from, by, to }: Curve) {
  context.beginPath();
  context.moveTo(from.x, from.y);
  if (by.length > 1) context.bezierCurveTo(by[0].x, by[0].y, by[1].x, by[1].y, to.x, to.y);
  else context.quadraticCurveTo(by[0].x, by[0].y, to.x, to.y);
}

// The line ends where its arrow begins.
function drawCurve(context: CanvasRenderingContext2D, curve: Curve) {
  const { to, by, width } = curve;
  const last = by[by.length - 1];
  const length = Math.hypot(to.x - last.x, to.y - last.y) || 1;
  const [ux, uy] = [(to.x - last.x) / length, (to.y - last.y) / length];
  const size = ARROW + width;
  const neck = { x: to.x - ux * size, y: to.y - uy * size };
  context.lineWidth = width;
  trace(context, { ...curve, to: { x: to.x - ux * (size - 0.5), y: to.y - uy * (size - 0.5) } });
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(neck.x - uy * size * 0.5, neck.y + ux * size * 0.5);
  context.lineTo(neck.x + uy * size * 0.5, neck.y - ux * size * 0.5);
  context.fill();
}

function drawShape(context: CanvasRenderingContext2D, node: Node, at: Place) {
  const points = corners(node, at);
  context.beginPath();
  if (points.length) points.forEach((point) => context.lineTo(point.x, point.y));
  else context.arc(at.x, at.y, SIZES[node.kind][0] / 2, 0, 7);
  context.closePath();
  context.fillStyle = styleColour(node.kind === "gpu" ? "accent-soft" : /nic/.test(node.kind) ? "gap" : "raised");
  context.fill();
  context.strokeStyle = styleColour("soft");
  context.setLineDash(node.kind === "unknown" || node.kind === "somenic" ? [3, 3] : []);
  context.stroke();
  context.setLineDash([]);
}

const fitting = new Map<string, string>(); // the same words are drawn again and again

function clipped(context: CanvasRenderingContext2D, text: string, width: number): string {
  const id = `${context.font} ${width} ${text}`;
  let words = fitting.get(id);
  if (words !== undefined) return words;
  if (fitting.size >= MOST_WORDS) fitting.clear();
  fitting.set(id, (words = clip(context, text, width)));
  return words;
}

// With the ground's colour around it, so that edges do not run through it.
function drawText(context: CanvasRenderingContext2D, text: string, x: number, y: number, width: number, ground: string) {
  const words = clipped(context, text, width);
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = styleColour(ground);
  context.strokeText(words, x, y);
  context.fillText(words, x, y);
}

function drawHosts(context: CanvasRenderingContext2D, { hosts }: Geometry) {
  context.lineWidth = 1;
  for (const { left, top, right, bottom } of hosts.values()) {
    context.beginPath();
    context.roundRect(left, top, right - left, bottom - top, 8);
    context.fillStyle = styleColour("ground");
    context.fill();
    context.strokeStyle = styleColour("line-strong");
    context.stroke();
  }
}

function drawLabels(context: CanvasRenderingContext2D, { graph, places }: Geometry, faint: (part: Node | Edge) => boolean) {
  context.font = "11px system-ui, sans-serif";
  for (const node of graph.nodes.values()) {
    if (node.kind === "host") continue;
    const at = places.get(node.id)!;
    context.globalAlpha = faint(node) ? 0.15 : 1;
    if (/nic/.test(node.kind)) drawText(context, node.label, at.x, at.y + 21, 86, "ground");
    else drawText(context, node.label, at.x, at.y + 0.5, 76, node.kind === "gpu" ? "accent-soft" : "raised");
  }
}

const READABLE = 8; // px, of hosts' names
const NARROW = 24; // px: no name fits

// Readable from afar, above the upper hosts and below the lower ones: most edges come from the middle.
function drawHostNames(context: CanvasRenderingContext2D, shapes: Geometry, zoom: number, faint: (part: Node) => boolean) {
  const size = Math.max(11, Math.round(READABLE / zoom));
  context.font = `600 ${size}px system-ui, sans-serif`;
  for (const [host, { left, top, right, bottom }] of shapes.hosts) {
    const room = 60 + (shapes.around ? Math.max(right - left, bottom - top) : right - left);
    if (room * zoom < NARROW) continue;
    const below = top > (shapes.all.top + shapes.all.bottom) / 2;
    context.globalAlpha = faint(host) ? 0.15 : 1;
    drawText(context, host.label, (left + right) / 2, below ? bottom + 3 + size / 2 : top - 3 - size / 2, room, "paper");
  }
}

// Edges, then nodes, then words; parts far from the selection are faint.
export function draw(context: CanvasRenderingContext2D, shapes: Geometry, look: Look, chosen: Node | Edge | null) {
  const near = chosen ? nearTo(shapes.graph, chosen) : null;
  const faint = (part: Node | Edge) => near !== null && !near.has(part);
  context.save();
  context.translate(look.x, look.y);
  context.scale(look.zoom, look.zoom);
  drawHosts(context, shapes);
  for (let i = shapes.curves.length; i-- > 0; ) {
    const curve = shapes.curves[i];
    context.strokeStyle = context.fillStyle = transportColour(curve.edge.transport);
    context.globalAlpha = faint(curve.edge) ? 0.1 : near ? 1 : 0.82;
    drawCurve(context, curve);
  }
  context.lineWidth = 1.5;
  for (const node of shapes.graph.nodes.values()) {
    if (node.kind === "host") continue;
    context.globalAlpha = faint(node) ? 0.25 : 1;
    drawShape(context, node, shapes.places.get(node.id)!);
  }
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillStyle = styleColour("ink");
  if (look.zoom * 11 >= LEGIBLE) drawLabels(context, shapes, faint);
  drawHostNames(context, shapes, look.zoom, faint);
  context.globalAlpha = 1;
  context.restore();
}

function nearTo(graph: Graph, chosen: Node | Edge): Set<Node | Edge> {
  const out = new Set<Node | Edge>([chosen]);
  const touches = (node: Node) => node === chosen || node.parent === chosen;
  for (const edge of graph.edges) if (edge === chosen || touches(edge.from) || touches(edge.to)) out.add(edge).add(edge.from).add(edge.to);
  for (const node of graph.nodes.values()) if (touches(node)) out.add(node);
  for (const part of [...out]) if ("parent" in part && part.parent) out.add(part.parent);
  return out;
}
