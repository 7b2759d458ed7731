// SPDX-License-Identifier: BSD-3-Clause
import { computed } from "@preact/signals";
import { Kind, kind, KIND_CODES, Measure, measure, model, option, setOption, view, ViewName, VIEWS } from "./state/state";
import { Alternative, Choice } from "./ui/choice";
import { Beside } from "./ui/beside";
import { Chips } from "./ui/chips";
import { Theme, theme } from "./ui/colours";
import { Facets } from "./ui/facets";
import { Selected } from "./ui/selected";
import { Status } from "./ui/status";
import { Strip } from "./ui/strip";
import { hideTip, Tip } from "./ui/tip";
import { busy } from "./ui/turns";
import { Graphs } from "./views/graphs";
import { HostsView } from "./views/hosts";
import { Matrix } from "./views/matrix";
import { headline, Overview } from "./views/overview";
import { Summary } from "./views/summary";
import { Tables } from "./views/tables";
import { Timeline } from "./views/timeline";

const LABELS: Record<ViewName, string> = {
  overview: "Overview", summary: "Summary", timeline: "Timeline", matrix: "Matrix", graphs: "Graphs", tables: "Tables", hosts: "Hosts",
};
const BODIES: Record<ViewName, () => preact.JSX.Element> = {
  overview: Overview, summary: Summary, timeline: Timeline, matrix: Matrix, graphs: Graphs, tables: Tables, hosts: HostsView,
};

const copies = computed(() => model.facts.transfers.column("kind").includes(KIND_CODES.copy));

function kinds(): Alternative<Kind>[] {
  return [
    { value: "data", label: "Data", title: "payload" },
    { value: "control", label: "Control", title: "UCX's own traffic: wire-up, announcements, answers" },
    ...(copies.value || kind.value === "copy"
      ? [{ value: "copy", label: "Copies", title: "payload on its way within its process" } as const] : []),
  ];
}

function go(name: ViewName) {
  hideTip();
  view.value = name;
}

function Tabs() {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    go(VIEWS[(VIEWS.indexOf(view.value) + step + VIEWS.length) % VIEWS.length]);
    const tabs = event.currentTarget as HTMLElement;
    requestAnimationFrame(() => tabs.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={move}>
      {VIEWS.map((name) => (
        <button
          type="button" role="tab" id={`tab-${name}`} aria-selected={view.value === name} aria-controls="view"
          tabIndex={view.value === name ? 0 : -1} onClick={() => go(name)}
        >
          {LABELS[name]}
        </button>
      ))}
    </div>
  );
}

function Top() {
  const wide = option("side.open", "yes") === "no";
  return (
    <header class="top">
      <div class="title">
        <h1>ucxbpf</h1>
        <span class="what" title={headline()}>{headline()}</span>
        <div class="controls no-print">
          <Beside label="Verdict" />
          <Choice<Kind>
            label="Kind of traffic" value={kind.value} onChange={(value) => (kind.value = value)}
            options={kinds()}
          />
          <Choice<Measure>
            label="Measure" value={measure.value} onChange={(value) => (measure.value = value)}
            options={[{ value: "bytes", label: "Bytes" }, { value: "count", label: "Count" }]}
          />
          <Choice<Theme>
            label="Colours" value={theme.value} onChange={(value) => (theme.value = value)}
            options={[{ value: "auto", label: "Auto" }, { value: "light", label: "Light" }, { value: "dark", label: "Dark" }]}
          />
        </div>
      </div>
      <div class="tabrow">
        <button
          type="button" class="button plain no-print" aria-pressed={!wide}
          onClick={() => setOption("side.open", wide ? "yes" : "no")}
        >
          {wide ? "Show filters" : "Hide filters"}
        </button>
        <Tabs />
        <Chips />
      </div>
    </header>
  );
}

export function App() {
  const Body = BODIES[view.value];
  const wide = option("side.open", "yes") === "no";
  return (
    <div class={`app ${wide ? "wide" : ""}`}>
      <Top />
      <Facets />
      <main class="main" aria-busy={busy.value}>
        <Selected />
        {view.value !== "timeline" && <Strip />}
        <div class="view" id="view" role="tabpanel" aria-labelledby={`tab-${view.value}`}>
          <Body />
        </div>
      </main>
      <Status />
      <Tip />
    </div>
  );
}
