// SPDX-License-Identifier: BSD-3-Clause
// The keys: moving and zooming, and going from event to event.
import type { Chain } from "../../data/chain";
import type { Timeline } from "../../data/timeline";
import { range } from "../../state/state";
import { mark, markedProcess } from "../../state/timeline";
import { hideTip } from "../../ui/tip";
import { chooseEvent, chosenTime } from "./chosen";
import { openHelp } from "./help";
import type { Layout } from "./layout";
import { focusSearch } from "./search-box";
import type { Sight } from "./sight";

export interface Keyed {
  timeline: Timeline;
  layout: Layout;
  sight: Sight;
  selected: number | null;
  chain: Chain | null; // of the event under the pointer, else of the selected one
  go: (event: number) => void;
}

type Act = (keyed: Keyed) => void;
type Found = number | null | undefined;

function first({ timeline, layout, sight: { look } }: Keyed): Found {
  const placed = layout.tracks.flatMap((track) => track.lanes).find(({ lane }) => timeline.count(lane) > 0);
  return placed && timeline.event(placed.lane, timeline.within(placed.lane, look.from, look.to)[0]);
}

// The next event of the lane, or the one before.
function along(step: number): Act {
  return to((keyed) => {
    const { timeline, selected } = keyed;
    if (selected === null) return first(keyed);
    const lane = timeline.lanes[timeline.events.lane[selected]];
    const next = selected + step;
    return next >= lane.first && next < lane.end ? next : null;
  });
}

const inwards = to(({ timeline, selected }) => (selected === null ? null : timeline.childrenOf(selected)[0]));
const outwards = to(({ timeline, selected }) => (selected === null ? null : timeline.parentOf(selected)));
const otherEnd = to(({ chain }) => chain?.far && (chain.far.op ?? chain.far.transfers[0]));

function to(find: (keyed: Keyed) => Found): Act {
  return (keyed) => {
    const event = find(keyed);
    if (event !== null && event !== undefined) keyed.go(event);
  };
}

function zoom(factor: number): Act {
  return ({ sight }) => sight.zoom(factor);
}

function pan(part: number): Act {
  return ({ sight }) => sight.pan(part);
}

// The chosen event, else the chosen time, else all.
function fit({ timeline, layout, sight, selected }: Keyed) {
  const { start, duration } = timeline.events;
  const time = chosenTime(timeline);
  if (selected !== null) sight.fit({ from: start[selected], to: start[selected] + duration[selected] });
  else if (time) sight.fit(time(layout.tracks[0]?.host ?? 0));
  else sight.whole();
}

// First of the event, then of the time, then of the marked process.
function letGo({ selected }: Keyed) {
  if (selected !== null) chooseEvent(null);
  else if (range.value) range.value = null;
  else if (markedProcess() !== null) mark(null);
}

const IN = 0.6;
const ASIDE = 0.15;

const KEYS: Record<string, Act> = {
  ArrowLeft: pan(-ASIDE), ArrowRight: pan(ASIDE), a: pan(-ASIDE), d: pan(ASIDE),
  "+": zoom(IN), "=": zoom(IN), "-": zoom(1 / IN), w: zoom(IN), s: zoom(1 / IN),
  "0": ({ sight }) => sight.whole(), Home: ({ sight, timeline }) => sight.show({ from: 0, to: timeline.span * 1.02 }),
  n: along(1), p: along(-1), i: inwards, o: outwards, l: otherEnd, Escape: letGo, f: fit,
  "/": focusSearch, "?": openHelp,
};
// These work wherever the focus is, but where one writes: the others have a meaning of their own in tables and buttons.
const ANYWHERE = new Set(["w", "a", "s", "d", "f", "/", "?"]);

export function press(event: KeyboardEvent, keyed: Keyed) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const act = KEYS[key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  event.preventDefault();
  hideTip();
  act(keyed);
}

const writes = (element: Element | null) => !!element?.closest("input:not([type=checkbox]), textarea, select, dialog");

export function pressAnywhere(event: KeyboardEvent, keyed: Keyed) {
  if (ANYWHERE.has(event.key.toLowerCase()) && !writes(event.target as Element)) press(event, keyed);
}
