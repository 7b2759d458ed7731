// SPDX-License-Identifier: BSD-3-Clause
// What is drawn anew, and when. The marks have a canvas of their own over the tracks: they change more often.
import type { RefObject } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import { Chain, members } from "../../data/chain";
import { Filter } from "../../data/filter";
import type { Timeline } from "../../data/timeline";
import { chosen, current, engine, model, range, sizes } from "../../state/state";
import { fit } from "../../ui/canvas";
import { dark } from "../../ui/colours";
import { arrowsOf, NONE } from "./arrows";
import { chosenTime } from "./chosen";
import { Colours } from "./colours";
import { drawMarks, drawTracks } from "./draw";
import type { Layout } from "./layout";
import type { Means } from "./means";
import type { Look, Scene, Window } from "./scene";

interface Painted {
  timeline: Timeline;
  layout: Layout;
  look: Look;
  means: Means;
  chain: Chain | null; // to stand out
  brush: Window | null;
  marked: number | null; // process
}

// Data and control are both drawn, unless a filter is on transfers.
export function useTimelineFilter(): Filter {
  const { selection, filter } = current.value;
  const wanted = filter.conditions.ofTransfers ? selection.wanted : chosen.value;
  return useMemo(() => new Filter(engine, { wanted, sizes: sizes.value, range: null }, filter), [wanted, sizes.value]);
}

interface Places {
  canvas: RefObject<HTMLCanvasElement | null>; // the tracks
  marks: RefObject<HTMLCanvasElement | null>;
  scroller: RefObject<HTMLDivElement | null>; // what the width of both comes from
}

export function usePainting({ canvas, marks, scroller }: Places, { timeline, layout, look, means, chain, brush, marked }: Painted) {
  const colours = useMemo(() => new Colours(model), []);
  const filter = useTimelineFilter();
  // rows of pixels have no room for lines
  const arrows = useMemo(() => (layout.pixels ? NONE : arrowsOf(timeline, filter)), [timeline, filter, range.value, layout.pixels]);
  const scene: Scene = {
    timeline, layout, look, colours, filtered: chosen.value.size > 0 || sizes.value.size > 0, fails: (sort) => filter.fails(sort), sizes: sizes.value,
    chain: new Set(chain ? members(chain) : []), arrow: chain?.arrow ?? null, arrows, marked, chosen: brush ? () => brush : chosenTime(timeline),
  };
  // Where the width has just changed, it is measured and drawn in the same frame.
  const draw = ({ current }: RefObject<HTMLCanvasElement | null>, by: (context: CanvasRenderingContext2D) => void) => {
    if (scroller.current!.clientWidth === look.width) by(fit(current!, look.width, look.height));
  };
  // Sums over steps are dimmed by any filter alike.
  useLayoutEffect(
    () => draw(canvas, (context) => drawTracks(context, scene, means)),
    [timeline, look, layout, means, dark.value, means.mode === "levels" && !means.passing ? scene.filtered : filter],
  );
  useLayoutEffect(
    () => draw(marks, (context) => drawMarks(context, scene)),
    [timeline, look, layout, chain, brush, range.value, dark.value, arrows, marked],
  );
}
