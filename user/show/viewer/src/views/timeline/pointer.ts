// SPDX-License-Identifier: BSD-3-Clause
// The pointer on the canvas: hovering, dragging, clicks and the wheel.
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Timeline } from "../../data/timeline";
import { hideTip, showTip } from "../../ui/tip";
import { chooseEvent, chosenTool } from "./chosen";
import { useDrag } from "./drag";
import { toggleFold } from "./arrange";
import { eventAt, hostAt, laneAt, nameAt } from "./hit";
import type { Layout } from "./layout";
import type { Means } from "./means";
import { AXIS, GUTTER } from "./scene";
import type { Sight } from "./sight";
import { tipAt } from "./tip";

interface Over {
  canvas: RefObject<HTMLCanvasElement | null>;
  timeline: Timeline;
  layout: Layout;
  means: Means;
  sight: Sight;
  go: (event: number) => void;
}

export function usePointer({ canvas, timeline, layout, means, sight, go }: Over) {
  const [hover, setHover] = useState<number | null>(null); // event
  const clicked = useRef<number | null>(null); // the event under the pointer, if it was clicked
  const drag = useDrag(timeline, sight);
  const { look } = sight;
  useWheel(canvas, sight);
  useEffect(() => hideTip, []);

  const move = (event: PointerEvent) => {
    const [x, y] = placeOf(event);
    if (drag.to(x)) return;
    const placed = laneAt(layout, look, x, y);
    const found = placed && means.mode !== "levels" ? eventAt(timeline, placed, look, x, y) : null;
    setHover(found);
    if (found === null || found !== clicked.current) clicked.current = null;
    const tip = placed && clicked.current === null && tipAt(timeline, means, look, placed, found, x);
    if (!tip) return hideTip();
    const top = event.clientY - y + AXIS - look.scroll + placed.y;
    showTip(event.clientX, top + placed.height - 6, tip, top);
  };

  const press = (event: PointerEvent) => {
    const [x, y] = placeOf(event);
    const name = event.button === 0 ? nameAt(layout, look, x, y) : null;
    if (name && name.folded !== null) toggleFold(name.heading ? `h${name.host}` : `p${name.process}`);
    if (event.button !== 0 || x < GUTTER || name) return;
    canvas.current!.setPointerCapture(event.pointerId);
    drag.begin(event.shiftKey ? "range" : chosenTool(), hostAt(layout, look, y), x);
  };

  const release = () => {
    if (!drag.end()) return;
    chooseEvent(hover);
    clicked.current = hover; // in full beside the tracks: nothing lies over it until the pointer has left it
    hideTip();
  };

  // To the event, else a step in.
  const twice = (event: MouseEvent) => {
    const [x] = placeOf(event);
    const { start, duration } = timeline.events;
    hideTip();
    if (x < GUTTER) return;
    if (hover === null) return sight.zoom(0.5, x);
    go(hover);
    sight.fit({ from: start[hover], to: start[hover] + duration[hover] });
  };

  const leave = () => {
    setHover(null);
    hideTip();
  };

  return {
    hover, brush: drag.brush,
    handlers: {
      onPointerMove: move, onPointerDown: press, onPointerUp: release, onPointerCancel: release, onPointerLeave: leave,
      onDblClick: twice,
    },
  };
}

function placeOf(event: MouseEvent): [number, number] {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// Zooms and pans; else it scrolls the tracks. Listened to by hand, since it may keep the page from scrolling.
function useWheel(canvas: RefObject<HTMLCanvasElement | null>, { look, zoom, pan }: Sight) {
  const turn = (event: WheelEvent) => {
    const [x] = placeOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey) zoom(Math.exp(event.deltaY * 0.0022), Math.max(GUTTER, x));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      pan((event.shiftKey ? event.deltaY : event.deltaX) / (look.width - GUTTER));
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    const element = canvas.current!;
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  });
}
