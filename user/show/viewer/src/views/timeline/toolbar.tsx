// SPDX-License-Identifier: BSD-3-Clause
// The controls above the tracks, and the legend of their colours.
import type { Timeline } from "../../data/timeline";
import { range } from "../../state/state";
import { Alternative, Choice } from "../../ui/choice";
import { chooseTool, chosenTime, chosenTool, Tool } from "./chosen";
import type { Layout } from "./layout";
import { Legend } from "./legend";
import type { Sight } from "./sight";

const TOOLS: Alternative<Tool>[] = [
  { value: "pan", label: "Move" }, { value: "range", label: "Choose time", title: "or hold shift while dragging" },
];

export function Toolbar({ timeline, layout, sight }: { timeline: Timeline; layout: Layout; sight: Sight }) {
  const toRange = () => {
    const picked = chosenTime(timeline);
    if (picked) sight.show(picked(layout.tracks[0]?.host ?? 0));
  };
  return (
    <div class="toolbar no-print">
      <Choice<Tool> label="Dragging" value={chosenTool()} onChange={chooseTool} options={TOOLS} />
      <span class="buttons">
        <button type="button" class="button" onClick={() => sight.zoom(0.5)} title="ctrl and wheel, or +">Zoom in</button>
        <button type="button" class="button" onClick={() => sight.zoom(2)} title="ctrl and wheel, or −">Zoom out</button>
        <button type="button" class="button" onClick={sight.whole}>Whole run</button>
        {range.value && <button type="button" class="button" onClick={toRange}>To chosen time</button>}
      </span>
      <Legend />
    </div>
  );
}
