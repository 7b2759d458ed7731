// SPDX-License-Identifier: BSD-3-Clause
// Two graphs of the same transfers: between processes, and over the devices that carried them.
import { useMemo } from "preact/hooks";
import { current, kind, KIND_NOUNS, measure, model, none, option, setCodes, setOption } from "../state/state";
import { Choice } from "../ui/choice";
import { transportColour } from "../ui/colours";
import { bytes, count, plural } from "../ui/format";
import { Plot } from "./graphs-canvas";
import { Edge, Graph, graphOf, Node, Nodes, pairsOf, Which } from "./graphs-model";

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
  const transports = [...new Set(graph.edges.map((edge) => edge.transport))];
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

function chooseEdge(graph: Graph, edge: Edge) {
  const pairs = pairsOf(current.value, graph, edge);
  setCodes("src", new Set(pairs.map(([src]) => src)));
  setCodes("dst", new Set(pairs.map(([, dst]) => dst)));
  setCodes("transport", new Set([Math.max(0, model.names.indexOf(edge.transport))]));
}

function choose(graph: Graph, part: Node | Edge) {
  if ("from" in part) chooseEdge(graph, part);
  else if (part.kind === "process" && part.process) setCodes("process", new Set([part.process]));
  else if (part.kind === "host") setCodes("host", new Set([Number(part.id.slice(1))]));
  else if (part.kind === "process") setCodes("host", new Set([Number(part.parent!.id.slice(1))]));
}

function about(graph: Graph): string {
  const { left } = graph;
  return [
    `${KIND_NOUNS[kind.value][1]} of ${plural(graph.pairs, "pair")} of processes; click to filter`,
    graph.merged ? "the processes of a host are one node" : "",
    left.edges ? `the ${count(left.edges)} smallest edges are not drawn: ${bytes(left.bytes)} in ${count(left.count)}` : "",
  ].filter(Boolean).join("; ");
}

export function Graphs() {
  const which = option("graphs.show", "process") as Which;
  const nodes = option("graphs.nodes", "auto") as Nodes;
  const view = current.value;
  const graph = useMemo(() => graphOf(model, view, which, measure.value, nodes), [view, which, measure.value, nodes]);
  return (
    <section class="card graphs" aria-label="Graphs">
      <header>
        <h2>{which === "process" ? "Process graph" : "Device graph"}</h2>
        <span class="soft">{about(graph)}</span>
      </header>
      <div class="toolbar no-print">
        <Choice<Which> label="Graph" value={which} onChange={(value) => setOption("graphs.show", value)}
          options={[{ value: "process", label: "Processes" }, { value: "device", label: "Devices" }]} />
        {model.report.hosts.length > 1 && (
          <Choice<Nodes> label="Nodes" value={graph.merged ? "host" : "process"} onChange={(value) => setOption("graphs.nodes", value)}
            options={[{ value: "process", label: "Each process", title: "as far as 128 or fewer pass the filters" }, { value: "host", label: "Hosts" }]} />
        )}
        <Legend graph={graph} which={which} />
      </div>
      {graph.edges.length === 0 && <p class="empty">{none(KIND_NOUNS[kind.value][0])}</p>}
      {graph.nodes.size > 0 && (
        <Plot graph={graph} which={which} pairs={(edge) => pairsOf(view, graph, edge).length} choose={(part) => choose(graph, part)} />
      )}
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
