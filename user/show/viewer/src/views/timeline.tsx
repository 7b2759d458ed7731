// SPDX-License-Identifier: BSD-3-Clause
import { useEffect } from "preact/hooks";
import { model } from "../state/state";
import { failure, timeline, wantTimeline } from "../state/timeline";
import { count } from "../ui/format";
import { Canvas } from "./timeline/canvas";

export function Timeline() {
  useEffect(wantTimeline, []);
  const data = timeline.value;
  const { events, untimed } = model.directory.timeline;
  if (!data) return <section class="card"><p class="empty">{failure.value || "Reading the timeline …"}</p></section>;
  if (!data.lanes.length)
    return (
      <section class="card">
        <p class="empty">
          No event has a time{untimed > 0 ? `: the captures were made with --count, which keeps sums (${count(untimed)} facts)` : ""}.
        </p>
      </section>
    );
  return <Canvas timeline={data} all={events.kept === events.of} />;
}
