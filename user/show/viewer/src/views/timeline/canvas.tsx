// SPDX-License-Identifier: BSD-3-Clause
// The timeline: its canvas, the tools above it, and beside it the chosen event in words, or the statistics of the chosen time.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { chainOf } from "../../data/chain";
import { hungTime } from "../../data/held";
import type { Timeline } from "../../data/timeline";
import { who } from "../../data/waits";
import { chosen, model, option, range, sizes } from "../../state/state";
import { markedProcess } from "../../state/timeline";
import { count, time } from "../../ui/format";
import { chooseEvent, chosenEvent, chosenTool } from "./chosen";
import { Details } from "./details";
import { useLayout } from "./filtered-layout";
import { Help, openHelp } from "./help";
import { placeOf } from "./layout";
import { Keyed, press, pressAnywhere } from "./keys";
import { Means, meansFor } from "./means";
import { Minimap } from "./minimap";
import { usePainting } from "./painting";
import { usePointer } from "./pointer";
import { RangePanel } from "./range-panel";
import { AXIS } from "./scene";
import { useSight } from "./sight";
import { Toolbar } from "./toolbar";

const isFiltered = () => chosen.value.size > 0 || sizes.value.size > 0;

// all: every event is kept.
function Shown({ means: { mode, level, passing }, all }: { means: Means; all: boolean }) {
  const { kept, of } = model.directory.timeline.events;
  const steps = level ? `sums over steps of ${time(level.bucket)}` : "single events";
  return (
    <span class="soft" id="timeline-mode">
      {mode === "both" ? `${steps}, single events where they were kept` : steps}
      {all ? "" : `; ${count(kept)} of ${count(of)} single events are kept`}
      {level && isFiltered() && !passing ? "; sums are dimmed: what of them passes the filters is not known" : ""}
    </span>
  );
}

function Note({ fitted }: { fitted: boolean }) {
  return (
    <p class="note no-print">
      W A S D move and zoom, / searches, F fits, <button type="button" class="link" onClick={openHelp}>? shows all keys</button>.
      {model.report.hosts.length < 2 ? "" : fitted ? " Hosts lie side by side as the messages between them say."
        : " Hosts lie side by side as their times of day say: messages do not tell more of all of them; arrows between hosts are dashed."}
    </p>
  );
}

export function Canvas({ timeline, all }: { timeline: Timeline; all: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const marks = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useLayout(timeline);
  const sight = useSight(timeline, layout, scroller);
  const { look } = sight;
  const filtered = isFiltered();
  const means = useMemo(() => meansFor(timeline, look, layout, filtered), [timeline, look, layout, filtered]);
  const go = (event: number) => {
    chooseEvent(event);
    sight.bring(event);
  };
  const { hover, brush, handlers } = usePointer({ canvas, timeline, layout, means, sight, go });
  const selected = chosenEvent(timeline);
  const focus = hover ?? selected;
  const chain = useMemo(() => (focus === null ? null : chainOf(timeline, focus)), [timeline, focus]);
  const keyed: Keyed = { timeline, layout, sight, selected, chain, go };
  const latest = useRef(keyed);
  latest.current = keyed;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => pressAnywhere(event, latest.current);
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  const marked = markedProcess();
  useEffect(() => {
    const window = hungTime(timeline.open, timeline.span);
    if (marked !== null && window && !option("timeline.at", "")) sight.fit(window);
  }, [marked]);
  // Once the tracks have their place.
  useEffect(() => {
    const at = marked === null ? null : placeOf(layout, marked);
    if (at) sight.reveal(at.y, at.height);
  }, [marked, layout, look.height]);
  const beside = selected !== null || range.value !== null;
  usePainting({ canvas, marks, scroller }, { timeline, layout, look, means, chain, brush, marked });
  return (
    <div class={beside ? "timeline-with-side" : ""}>
      <section class="card timeline" aria-label="Timeline">
        <header>
          <h2>Timeline</h2>
          <Shown means={means} all={all} />
          {marked !== null && <span class="soft" role="status">{who(model, marked - 1)} is marked</span>}
        </header>
        <Toolbar timeline={timeline} layout={layout} sight={sight} selected={selected} go={go} />
        <Minimap timeline={timeline} sight={sight} />
        <div class="tracks-with-marks">
          <div class="tracks" ref={scroller} onScroll={(event) => sight.setScroll(event.currentTarget.scrollTop)}>
            <div class="spacer" style={{ height: `${layout.height + AXIS}px` }}>
              <canvas
                ref={canvas} tabIndex={0} role="application" class={chosenTool() === "range" ? "range" : ""}
                aria-label="Timeline. Left and right move, plus and minus zoom, 0 shows all, F fits. N and P go to the next and previous event, I and O in to and out of its layers, L to its other end, escape lets go."
                style={{ width: `${look.width}px`, height: `${look.height}px` }}
                onKeyDown={(event) => press(event, keyed)} {...handlers}
              />
            </div>
          </div>
          <canvas class="marks" ref={marks} aria-hidden="true" style={{ width: `${look.width}px`, height: `${look.height}px` }} />
        </div>
        <Note fitted={timeline.fitted} />
      </section>
      {beside && (
        <div class="timeline-side">
          {selected !== null && (
            <Details timeline={timeline} event={selected} chain={chainOf(timeline, selected)} go={go} close={() => chooseEvent(null)} />
          )}
          {range.value && <RangePanel timeline={timeline} layout={layout} />}
        </div>
      )}
      <Help />
    </div>
  );
}
