// SPDX-License-Identifier: BSD-3-Clause
// Two graphs of the same transfers: between processes, and over the devices that carried them.
import cytoscape, { Core, EventObject } from "cytoscape";
import { useLayoutEffect, useRef } from "preact/hooks";
import { current, kind, KIND_NOUNS, measure, model, option, setCodes, setOption } from "../state/state";
import { Choice } from "../ui/choice";
import { dark, styleColour, transportColour } from "../ui/colours";
import { bytes, count, plural } from "../ui/format";
import { hideTip, Pairs, showTip } from "../ui/tip";
import { Edge, edgeElements, Graph, graphOf, Node, nodeElements, pairEnds, Which } from "./graphs-model";
import { places } from "./graphs-place";

const SHAPES: Record<Node["kind"], string> = {
  process: "ellipse", gpu: "rectangle", nic: "triangle", somenic: "triangle", host: "round-rectangle", unknown: "diamond",
};

function style(): cytoscape.StylesheetStyle[] {
  const ink = styleColour("ink");
  const label = { label: "data(label)", color: ink, "font-size": 11, "font-family": "system-ui, sans-serif", "text-wrap": "ellipsis" as const, "text-max-width": "120px" };
  return [
    {
      selector: "node",
      style: {
        ...label, width: 30, height: 30, "background-color": styleColour("raised"), "border-width": 1.5, "border-color": styleColour("soft"),
        "text-valign": "center", "text-halign": "center",
      },
    },
    ...Object.entries(SHAPES).map(([name, shape]) => ({ selector: `node[kind = "${name}"]`, style: { shape: shape as cytoscape.Css.NodeShape } })),
    { selector: 'node[kind = "nic"], node[kind = "somenic"]', style: { "text-valign": "bottom", "text-margin-y": 3, width: 28, height: 26, "background-color": styleColour("gap") } },
    { selector: 'node[kind = "somenic"]', style: { "border-style": "dashed" } },
    { selector: 'node[kind = "gpu"]', style: { width: 38, height: 24, "background-color": styleColour("accent-soft") } },
    { selector: 'node[kind = "unknown"]', style: { "border-style": "dashed", width: 56, height: 40, "font-size": 9 } },
    {
      selector: ":parent",
      style: {
        "background-color": styleColour("ground"), "border-color": styleColour("line-strong"), "border-width": 1, padding: "22px",
        "text-valign": "top", "text-margin-y": -4, "font-weight": 600, "text-max-width": "260px",
      },
    },
    {
      selector: "edge",
      style: {
        width: "data(width)" as unknown as number, "line-color": "data(colour)", "target-arrow-color": "data(colour)", "target-arrow-shape": "triangle",
        "arrow-scale": 0.8, "curve-style": "bezier", opacity: 0.82, "control-point-step-size": 20, "loop-direction": "-45deg", "loop-sweep": "50deg",
      },
    },
    { selector: ".faded", style: { opacity: 0.12 } },
    { selector: "edge.near", style: { opacity: 1 } },
  ];
}

function peers(graph: Graph, id: string): [string, string][] {
  const rows: [string, string][] = [];
  const edges = [...graph.edges.values()].filter((edge) => edge.from === id || edge.to === id).sort((a, b) => b.bytes - a.bytes || b.count - a.count);
  for (const edge of edges.slice(0, 6)) {
    const other = graph.nodes.get(edge.from === id ? edge.to : edge.from)!;
    const way = edge.from === edge.to ? "↺" : edge.from === id ? "→" : "←";
    rows.push([`${way} ${other.label}`, `${bytes(edge.bytes)} in ${count(edge.count)} over ${edge.transport}`]);
  }
  if (edges.length > 6) rows.push([`${count(edges.length - 6)} more`, ""]);
  return rows;
}

function NodeTip({ graph, node }: { graph: Graph; node: Node }) {
  return (
    <>
      <h4>{node.title}</h4>
      <Pairs rows={peers(graph, node.id)} />
    </>
  );
}

function EdgeTip({ graph, edge }: { graph: Graph; edge: Edge }) {
  const title = (id: string) => graph.nodes.get(id)!.title;
  return (
    <>
      <h4>{title(edge.from)} → {title(edge.to)}</h4>
      <p>
        <i class="swatch" style={{ background: transportColour(edge.transport) }} />
        {edge.transport}: {bytes(edge.bytes)} in {plural(edge.count, ...KIND_NOUNS[kind.value])}
        {edge.pairs.size > 1 && <>, of {plural(edge.pairs.size, "pair")} of processes</>}
      </p>
    </>
  );
}

function choose(graph: Graph, id: string) {
  const node = graph.nodes.get(id);
  if (node?.kind === "process" && node.process) setCodes("process", new Set([node.process]));
  if (node?.kind === "host" || id.startsWith("m")) setCodes("host", new Set([Number(id.slice(1))]));
  const edge = graph.edges.get(id);
  if (!edge) return;
  const [src, dst] = [0, 1].map((at) => new Set([...edge.pairs].map((pair) => pairEnds(pair)[at])));
  setCodes("src", src);
  setCodes("dst", dst);
  setCodes("transport", new Set([engineCode(edge.transport)]));
}

function engineCode(transport: string): number {
  const at = model.names.indexOf(transport);
  return at < 0 ? 0 : at;
}

function listen(core: Core, shown: { current: Graph }) {
  const fade = (event: EventObject) => {
    const near = event.target.isNode?.() ? event.target.closedNeighborhood().union(event.target.descendants().closedNeighborhood()) : event.target.union(event.target.connectedNodes());
    core.batch(() => {
      core.elements().not(near.union(near.parent())).addClass("faded");
      near.filter("edge").addClass("near");
    });
  };
  core.on("mouseover", "node, edge", (event) => {
    const id = event.target.id() as string;
    const { clientX, clientY } = event.originalEvent;
    const graph = shown.current;
    const node = graph.nodes.get(id);
    const edge = graph.edges.get(id);
    if (core.edges().length < 4000) fade(event);
    if (node && node.kind !== "host") showTip(clientX, clientY, <NodeTip graph={graph} node={node} />);
    if (edge) showTip(clientX, clientY, <EdgeTip graph={graph} edge={edge} />);
  });
  core.on("mouseout", "node, edge", () => {
    hideTip();
    core.batch(() => core.elements().removeClass("faded near"));
  });
  core.on("tap", "node, edge", (event) => {
    hideTip();
    choose(shown.current, event.target.id());
  });
}

// Edges that stay get their new amounts alone: making one costs far more.
function update(core: Core, graph: Graph) {
  core.batch(() => {
    core.edges().filter((edge) => !graph.edges.has(edge.id())).remove();
    const added = [];
    for (const element of edgeElements(graph, measure.value)) {
      const edge = core.getElementById(element.data.id!);
      if (edge.empty()) added.push(element);
      else edge.data(element.data);
    }
    core.add(added);
  });
}

function Plot({ graph, which }: { graph: Graph; which: Which }) {
  const host = useRef<HTMLDivElement>(null);
  const core = useRef<Core | null>(null);
  const shown = useRef(graph);
  shown.current = graph;
  // The nodes stay where they are while filters change edges alone.
  const nodes = [...graph.nodes.keys()].join();
  useLayoutEffect(() => {
    const at = places(graph, which, host.current!.clientWidth / Math.max(1, host.current!.clientHeight));
    const made = (core.current = cytoscape({
      container: host.current, elements: nodeElements(graph), style: style(), minZoom: 0.05, maxZoom: 4,
      layout: { name: "preset", positions: (node: { id: () => string }) => at.get(node.id()), fit: true, padding: 24 } as cytoscape.LayoutOptions,
      boxSelectionEnabled: false, autounselectify: true, textureOnViewport: graph.edges.size > 800, hideEdgesOnViewport: graph.edges.size > 800,
    }));
    if (made.zoom() > 1.6) {
      made.zoom(1.6);
      made.center();
    }
    listen(made, shown);
    return () => {
      hideTip();
      made.destroy();
    };
  }, [nodes, which, dark.value]);
  useLayoutEffect(() => update(core.current!, graph), [graph, which, dark.value]);
  const zoom = (factor: number) => {
    const made = core.current;
    made?.zoom({ level: made.zoom() * factor, renderedPosition: { x: made.width() / 2, y: made.height() / 2 } });
  };
  const key = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (step) core.current?.panBy({ x: step[0], y: step[1] });
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") core.current?.fit(undefined, 24);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={host} class="graph" tabIndex={0} role="img" onKeyDown={key}
      aria-label={`Graph of ${graph.nodes.size} nodes and ${graph.edges.size} edges. Arrow keys move, plus and minus zoom, 0 shows all. The same numbers are in the table of pairs.`}
    />
  );
}

function Shape({ kind: of, label }: { kind: "process" | "gpu" | "nic"; label: string }) {
  return (
    <span>
      <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true" class="shape">
        {of === "process" && <circle cx="7" cy="7" r="5.5" />}
        {of === "gpu" && <rect x="1" y="2.5" width="12" height="9" />}
        {of === "nic" && <path d="M7 1.5 L13 12 L1 12 Z" />}
      </svg>
      {label}
    </span>
  );
}

function Legend({ graph, which }: { graph: Graph; which: Which }) {
  const transports = [...new Set([...graph.edges.values()].map((edge) => edge.transport))];
  return (
    <span class="legend end">
      <Shape kind="process" label="process" />
      {which === "device" && <Shape kind="gpu" label="GPU" />}
      {which === "device" && <Shape kind="nic" label="NIC" />}
      {transports.map((name) => <span><i class="swatch" style={{ background: transportColour(name) }} />{name}</span>)}
      <span class="soft">width: order of magnitude of {measure.value === "bytes" ? "bytes" : "transfers"}</span>
    </span>
  );
}

export function Graphs() {
  const which = option("graphs.show", "process") as Which;
  const view = current.value;
  const cache = useRef<{ id: unknown[]; graph: Graph } | null>(null);
  const id = [view, which, measure.value];
  if (!cache.current || cache.current.id.some((part, i) => part !== id[i]))
    cache.current = { id, graph: graphOf(model, view, which, measure.value) };
  const { graph } = cache.current;
  const pairs = new Set<number>();
  for (const edge of graph.edges.values()) edge.pairs.forEach((pair) => pairs.add(pair));
  return (
    <section class="card graphs" aria-label="Graphs">
      <header>
        <h2>{which === "process" ? "Process graph" : "Device graph"}</h2>
        <span class="soft">
          {KIND_NOUNS[kind.value][1]} of {plural(pairs.size, "pair")} of processes; click to filter
          {graph.merged ? "; too many to draw each: the processes of a host are one node until filters leave fewer" : ""}
          {graph.left > 0 ? `; the ${count(graph.left)} smallest edges are not drawn` : ""}
        </span>
      </header>
      <div class="toolbar no-print">
        <Choice<Which> label="Graph" value={which} onChange={(value) => setOption("graphs.show", value)}
          options={[{ value: "process", label: "Processes" }, { value: "device", label: "Devices" }]} />
        <Legend graph={graph} which={which} />
      </div>
      {graph.edges.size === 0 && <p class="empty">No transfer passes the filters.</p>}
      {graph.nodes.size > 0 && <Plot graph={graph} which={which} />}
      {which === "device" && (
        <p class="note">
          A transfer over a network is drawn from memory to NIC to NIC to memory. UCX names the NIC of the end that starts it. The
          other end's is drawn where that process used one NIC alone towards this one, else as “?”. Processes stand for host
          memory, or memory that is not known.
        </p>
      )}
    </section>
  );
}
