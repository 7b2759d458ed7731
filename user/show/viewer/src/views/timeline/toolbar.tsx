// SPDX-License-Identifier: BSD-3-Clause
// The controls above the tracks, and the legend of their colours.
import type { Timeline } from "../../data/timeline";
import { model, option, range, setOption } from "../../state/state";
import { Alternative, Choice } from "../../ui/choice";
import { arrangement, Rows, Sort } from "./arrange";
import { chooseTool, chosenTime, chosenTool, Tool } from "./chosen";
import { openHelp } from "./help";
import type { Layout } from "./layout";
import { Legend } from "./legend";
import { SearchBox } from "./search-box";
import type { Sight } from "./sight";

const TOOLS: Alternative<Tool>[] = [
  { value: "pan", label: "Move" }, { value: "range", label: "Choose time", title: "or hold shift while dragging" },
];
const SORTS: [Sort, string][] = [["rank", "by rank"], ["waiting", "by waiting"], ["bytes", "by bytes sent"]];
const ROWS: [Rows, string][] = [["auto", "rows as they fit"], ["layers", "all layers"], ["calls", "MPI calls"], ["pixels", "a line each"]];
const GROUPS: ["host" | "none", string][] = [["host", "hosts apart"], ["none", "all hosts together"]];

function Pick<Value extends string>({ name, label, value, choices }: { name: string; label: string; value: Value; choices: [Value, string][] }) {
  return (
    <select class="button" aria-label={label} title={label} value={value} onChange={(event) => setOption(name, event.currentTarget.value)}>
      {choices.map(([one, words]) => <option value={one}>{words}</option>)}
    </select>
  );
}

function foldAll() {
  const folded = option("timeline.folded", "") !== "";
  setOption("timeline.folded", folded ? "" : model.report.hosts.map(({ id }) => `h${id}`).join("."));
}

export function Toolbar({ timeline, layout, sight, selected, go }: {
  timeline: Timeline; layout: Layout; sight: Sight; selected: number | null; go: (event: number) => void;
}) {
  const toRange = () => {
    const picked = chosenTime(timeline);
    if (picked) sight.fit(picked(layout.tracks[0]?.host ?? 0));
  };
  const { sort, rows, group, folded } = arrangement();
  return (
    <>
      <div class="toolbar no-print">
        <Choice<Tool> label="Dragging" value={chosenTool()} onChange={chooseTool} options={TOOLS} />
        <span class="buttons">
          <button type="button" class="button" onClick={() => sight.zoom(0.5)} title="W, +, ctrl and wheel" aria-label="Zoom in">+</button>
          <button type="button" class="button" onClick={() => sight.zoom(2)} title="S, −, ctrl and wheel" aria-label="Zoom out">−</button>
          <button type="button" class="button" onClick={sight.whole} title="0">Whole run</button>
          {range.value && <button type="button" class="button" onClick={toRange}>To chosen time</button>}
        </span>
        <span class="buttons">
          <Pick<Sort> name="timeline.sort" label="Order of processes" value={sort} choices={SORTS} />
          {model.report.hosts.length > 1 && <Pick<"host" | "none"> name="timeline.group" label="Groups of processes" value={group} choices={GROUPS} />}
          <Pick<Rows> name="timeline.rows" label="Height of processes" value={rows} choices={ROWS} />
          {model.report.hosts.length > 1 && group === "host" && <button type="button" class="button fold" onClick={foldAll}>{folded.size ? "Unfold all" : "Fold all"}</button>}
        </span>
        <SearchBox timeline={timeline} layout={layout} sight={sight} selected={selected} go={go} />
        <button type="button" class="button end" onClick={openHelp} aria-label="Keys" title="Keys">?</button>
      </div>
      <Legend />
    </>
  );
}
