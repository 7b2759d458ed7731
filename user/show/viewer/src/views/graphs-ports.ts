// SPDX-License-Identifier: BSD-3-Clause
// Where edges leave a node and arrive at it: apart, as far as their widths need it.
import type { Node } from "./graphs-model";
import type { Place } from "./graphs-place";
import type { Curve } from "./graphs-shapes";

export const ARROW = 7; // more than the line's width
const MOST = 12; // ends at a node; more of them have no room
const AROUND = 20; // px from a node's middle to where its edges end, about
const ROUNDS = 8;

interface End {
  curve: Curve;
  name: "from" | "to";
  angle: number;
  half: number; // of the angle that it needs
}

function endsOf(curves: Curve[], places: Map<string, Place>): Map<Node, End[]> {
  const out = new Map<Node, End[]>();
  for (const curve of curves) {
    const { edge, by, width } = curve;
    for (const [name, node, control] of [["from", edge.from, by[0]], ["to", edge.to, by[by.length - 1]]] as const) {
      const at = places.get(node.id)!;
      const half = ((name === "to" ? ARROW : 2) + width) / 2 / AROUND;
      const end = { curve, name, angle: Math.atan2(control.y - at.y, control.x - at.x), half };
      const list = out.get(node);
      if (list) list.push(end);
      else out.set(node, [end]);
    }
  }
  return out;
}

// Neighbours that are too near push each other away, each the same way.
function spread(ends: End[]) {
  ends.sort((a, b) => a.angle - b.angle);
  for (let round = 0; round < ROUNDS; round++)
    ends.forEach((end, i) => {
      const next = ends[(i + 1) % ends.length];
      const gap = next.angle - end.angle + (i + 1 === ends.length ? 2 * Math.PI : 0);
      const lack = end.half + next.half - gap;
      if (lack <= 0) return;
      end.angle -= lack / 2;
      next.angle += lack / 2;
    });
}

export function ports(curves: Curve[], places: Map<string, Place>, border: (node: Node, at: Place, towards: Place) => Place) {
  for (const [node, ends] of endsOf(curves, places)) {
    if (ends.length < 2 || ends.length > MOST) continue;
    spread(ends);
    const at = places.get(node.id)!;
    for (const { curve, name, angle } of ends) curve[name] = border(node, at, { x: at.x + 100 * Math.cos(angle), y: at.y + 100 * Math.sin(angle) });
  }
}
