// SPDX-License-Identifier: BSD-3-Clause
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Timeline as Data } from "../data/timeline";
import { model } from "../state/state";
import { count } from "../ui/format";
import { Canvas } from "./timeline-canvas";

// Decoded when it is first looked at, then kept.
const data = signal<Data | null>(null);

function useData(): Data | string {
  const [failed, fail] = useState("");
  const asked = useRef(false);
  useEffect(() => {
    if (data.value || asked.current) return;
    asked.current = true;
    const work = setTimeout(() => {
      try {
        data.value = new Data(model);
      } catch (error) {
        fail(`The timeline cannot be shown: ${(error as Error).message}`);
      }
    });
    return () => clearTimeout(work);
  }, []);
  return data.value ?? failed;
}

export function Timeline() {
  const timeline = useData();
  const { events, untimed } = model.directory.timeline;
  if (typeof timeline === "string")
    return <section class="card"><p class="empty">{timeline || "Reading the timeline …"}</p></section>;
  if (!timeline.lanes.length)
    return (
      <section class="card">
        <p class="empty">
          No event has a time{untimed > 0 ? `: the captures were made with --count, which keeps sums (${count(untimed)} facts)` : ""}.
        </p>
      </section>
    );
  return <Canvas timeline={timeline} all={events.kept === events.of} />;
}
