// SPDX-License-Identifier: BSD-3-Clause
// A graph's canvas: zoom, move, hover, click, and walking over the edges by keys.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { kind, KIND_NOUNS, measure } from "../state/state";
import { dark, transportColour } from "../ui/colours";
import { bytes, count, plural } from "../ui/format";
import { hideTip, Pairs, showTip } from "../ui/tip";
import { draw } from "./graphs-draw";
import { fitted, geometry, Geometry, Look, under } from "./graphs-shapes";
import type { Edge, Graph, Node, Which } from "./graphs-model";
import { areAround, Place, places } from "./graphs-place";
import { fit } from "../ui/canvas";

type Part = Node | Edge;

const isEdge = (part: Part): part is Edge => "from" in part;
const SOME = 6;
const CLICK = 3; // px that a click may move

function peers(graph: Graph, node: Node): [string, string][] {
  const edges = graph.edges.filter((edge) => edge.from === node || edge.to === node).sort((a, b) => b.bytes - a.bytes || b.count - a.count);
  const rows = edges.slice(0, SOME).map((edge): [string, string] => {
    const other = edge.from === node ? edge.to : edge.from;
    const way = edge.from === edge.to ? "↺" : edge.from === node ? "→" : "←";
    return [`${way} ${other.label}`, `${bytes(edge.bytes)} in ${count(edge.count)} over ${edge.transport}`];
  });
  return edges.length > SOME ? [...rows, [`${count(edges.length - SOME)} more`, " "]] : rows;
}

function amount(edge: Edge): string {
  return `${bytes(edge.bytes)} in ${plural(edge.count, ...KIND_NOUNS[kind.value])}`;
}

function PartTip({ graph, part, pairs }: { graph: Graph; part: Part; pairs: (edge: Edge) => number }) {
  if (!isEdge(part)) return <><h4>{part.title}</h4><Pairs rows={peers(graph, part)} /></>;
  const n = pairs(part);
  return (
    <>
      <h4>{part.from.title} → {part.to.title}</h4>
      <p>
        <i class="swatch" style={{ background: transportColour(part.transport) }} />
        {part.transport}: {amount(part)}
        {n > 1 && <>, of {plural(n, "pair")} of processes</>}
      </p>
    </>
  );
}

interface Drag {
  x: number;
  y: number;
  look: Look;
  part: Part | null;
  from: Map<string, Place>; // original places of the dragged nodes
  moved: boolean;
}

// Where a layout is looked at from, and which of its nodes the reader has put elsewhere.
interface Pose {
  of: Map<string, Place> | null;
  look: Look | null; // null: all of it
  moved: ReadonlyMap<string, Place>;
}

const AT_FIRST: Pose = { of: null, look: null, moved: new Map() };

interface Pointed {
  graph: Graph;
  focus: Part | null; // under the pointer
  walked: number; // place among the edges
}

interface Props {
  graph: Graph;
  which: Which;
  pairs: (edge: Edge) => number;
  choose: (part: Part) => void;
}

const MOVES: Record<string, [number, number]> = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };

export function Plot({ graph, which, pairs, choose }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [pose, setPose] = useState<Pose>(AT_FIRST);
  const [pointed, setPointed] = useState<Pointed>({ graph, focus: null, walked: -1 });
  const drag = useRef<Drag | null>(null);
  // The nodes stay where they are while filters change edges alone.
  const nodes = [...graph.nodes.keys()].join();
  const placed = useMemo(() => (size.width ? places(graph, which, size.width / size.height) : null), [nodes, which, size]);
  const { look, moved } = pose.of === placed ? pose : AT_FIRST;
  const { focus, walked } = pointed.graph === graph ? pointed : { focus: null, walked: -1 };
  const setLook = (next: Look | null) => setPose({ of: placed, look: next, moved });
  const setFocus = (part: Part | null) => setPointed({ graph, focus: part, walked });
  const walk = (to: number) => setPointed({ graph, focus, walked: to });
  useEffect(() => hideTip, [graph]);
  const shapes: Geometry | null = useMemo(
    () => placed && geometry(graph, new Map([...placed, ...moved]), measure.value, areAround(graph, which)), [graph, placed, moved]);
  const seen = shapes && (look ?? fitted(shapes, size.width, size.height));
  useLayoutEffect(() => {
    const box = canvas.current!.parentElement!;
    const measured = () => {
      const [width, height] = [box.clientWidth, box.clientHeight];
      setSize((last) => (last.width === width && last.height === height ? last : { width, height }));
    };
    const watch = new ResizeObserver(measured);
    watch.observe(box);
    measured();
    return () => watch.disconnect();
  }, []);
  const chosen = focus ?? graph.edges[walked] ?? null;
  useLayoutEffect(() => {
    if (shapes && seen) draw(fit(canvas.current!, size.width, size.height), shapes, seen, chosen);
  }, [shapes, look, chosen, size, dark.value]);

  const zoom = (factor: number, x = size.width / 2, y = size.height / 2) => {
    if (!seen) return;
    const to = Math.min(4, Math.max(0.05, seen.zoom * factor));
    const part = to / seen.zoom;
    setLook({ zoom: to, x: x - (x - seen.x) * part, y: y - (y - seen.y) * part });
  };
  const position = (event: MouseEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const found = (event: MouseEvent) => shapes && seen && under(shapes, seen, ...position(event));

  const point = (event: PointerEvent) => {
    if (drag.current) return dragTo(event);
    const part = found(event);
    if (part !== focus) setFocus(part);
    if (!part || (!isEdge(part) && part.kind === "host")) return hideTip();
    showTip(event.clientX, event.clientY, <PartTip graph={graph} part={part} pairs={pairs} />);
  };
  const press = (event: PointerEvent) => {
    if (event.button !== 0 || !seen || !shapes) return;
    const part = found(event);
    const own = part && !isEdge(part) ? [...graph.nodes.values()].filter((node) => node === part || node.parent === part) : [];
    const from = new Map(own.filter((node) => node.kind !== "host").map((node) => [node.id, shapes.places.get(node.id)!]));
    canvas.current!.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, look: seen, part, from, moved: false };
  };
  // A node or a host goes where it is dragged; the ground takes all along.
  const dragTo = (event: PointerEvent) => {
    const held = drag.current!;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    held.moved ||= Math.hypot(dx, dy) > CLICK;
    if (!held.moved) return;
    hideTip();
    if (!held.from.size) return setLook({ ...held.look, x: held.look.x + dx, y: held.look.y + dy });
    const scale = held.look.zoom;
    const at = [...held.from].map(([id, { x, y }]): [string, Place] => [id, { x: x + dx / scale, y: y + dy / scale }]);
    setPose({ of: placed, look: held.look, moved: new Map([...moved, ...at]) });
  };
  const release = () => {
    const held = drag.current;
    drag.current = null;
    if (held?.part && !held.moved) choose(held.part);
  };
  const leave = () => {
    setFocus(null);
    hideTip();
  };

  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      zoom(Math.exp(-event.deltaY * 0.0015), ...position(event));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const along = (step: number) => walk(Math.min(graph.edges.length - 1, Math.max(0, walked + step)));
  const keys: Record<string, () => void> = {
    "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), "0": () => setLook(null), n: () => along(1), p: () => along(-1),
    Escape: () => walk(-1), Enter: () => graph.edges[walked] && choose(graph.edges[walked]),
  };
  const key = (event: KeyboardEvent) => {
    const step = MOVES[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || !(step || keys[event.key])) return;
    event.preventDefault();
    if (!step) keys[event.key]();
    else if (seen) setLook({ ...seen, x: seen.x + step[0], y: seen.y + step[1] });
  };
  const edge = graph.edges[walked];
  return (
    <div class="graph">
      <canvas
        ref={canvas} tabIndex={0} role="application" onKeyDown={key} onPointerMove={point} onPointerDown={press} onPointerUp={release}
        onPointerCancel={release} onPointerLeave={leave}
        aria-label={`Graph of ${graph.nodes.size} nodes and ${graph.edges.length} edges. Arrow keys move, plus and minus zoom, 0 shows all, N and P go to the next and previous edge, the heaviest first, enter filters. The same numbers are in the table of pairs.`}
      />
      <p
        class="hidden" aria-live="polite"
        {...(edge ? { "data-from": edge.from.id, "data-to": edge.to.id, "data-transport": edge.transport, "data-bytes": edge.bytes, "data-count": edge.count } : {})}
      >
        {edge ? `${edge.from.title} to ${edge.to.title}, ${edge.transport}: ${amount(edge)}` : ""}
      </p>
    </div>
  );
}
