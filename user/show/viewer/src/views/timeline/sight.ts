// SPDX-License-Identifier: BSD-3-Clause
// Which part of the run and of its tracks is in sight, and what brings another one there.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { Timeline } from "../../data/timeline";
import { option, setOption } from "../../state/state";
import type { Layout } from "./layout";
import { AXIS, GUTTER, Look, nsOf, Window } from "./scene";

const SHORTEST = 50; // ns that a screen may show
const REST = 250; // ms after which the URL has it

export interface Sight {
  look: Look;
  setScroll: (y: number) => void;
  show: (wanted: Window) => void;
  whole: () => void;
  zoom: (factor: number, x?: number) => void; // around a place of the canvas, its middle
  pan: (part: number) => void; // a part of the visible range
  bring: (event: number) => void;
}

const wholeOf = (span: number): Window => ({ from: -0.01 * span, to: 1.01 * span });

function clamp(span: number, wanted: Window): Window {
  const length = Math.min(span * 1.02, Math.max(SHORTEST, wanted.to - wanted.from));
  const from = Math.min(Math.max(wanted.from, -0.01 * span), span * 1.01 - length);
  return { from, to: from + length };
}

function readWindow(span: number): Window {
  const [from, to] = option("timeline.at", "").split("-").map(Number);
  return to > from ? clamp(span, { from, to }) : wholeOf(span);
}

// The window in the URL, once it stays.
function useNote({ from, to }: Window, span: number) {
  useEffect(() => {
    const note = setTimeout(() => {
      const whole = from <= -0.0099 * span && to >= 1.0099 * span;
      if (!whole || option("timeline.at", "")) setOption("timeline.at", `${Math.round(from)}-${Math.round(to)}`);
    }, REST);
    return () => clearTimeout(note);
  }, [from, to]);
}

// As wide as the page has room, as high as the tracks and the screen allow.
function useSize(scroller: RefObject<HTMLDivElement | null>, layout: Layout) {
  const [size, setSize] = useState({ width: 900, height: 420 });
  useLayoutEffect(() => {
    const box = scroller.current!;
    const measured = () => {
      const most = Math.max(260, innerHeight - 400);
      const [width, height] = [box.clientWidth, Math.min(most, layout.height + AXIS)];
      setSize((last) => (last.width === width && last.height === height ? last : { width, height }));
    };
    const watch = new ResizeObserver(measured);
    watch.observe(box);
    addEventListener("resize", measured);
    measured();
    return () => {
      watch.disconnect();
      removeEventListener("resize", measured);
    };
  }, [layout]);
  return size;
}

// A window that has an event in it, at a scale at which it can be seen; null: this one does.
function around({ from, to }: Window, start: number, length: number): Window | null {
  const span = to - from;
  const wanted = length < span / 400 ? Math.max(SHORTEST, length * 60, 2000) : length > span ? length * 1.5 : span;
  if (wanted === span && start >= from && start + length <= to) return null;
  const middle = (start + start + length) / 2;
  return { from: middle - wanted / 2, to: middle + wanted / 2 };
}

export function useSight(timeline: Timeline, layout: Layout, scroller: RefObject<HTMLDivElement | null>): Sight {
  const { span, events } = timeline;
  const [at, setAt] = useState(() => readWindow(span));
  const [scroll, setScroll] = useState(0);
  const size = useSize(scroller, layout);
  const look = useMemo(() => ({ ...at, ...size, scroll }), [at, size, scroll]);
  useNote(at, span);
  const show = (wanted: Window) => setAt(clamp(span, wanted));
  return {
    look, setScroll, show,
    whole: () => show(wholeOf(span)),
    zoom(factor, x = (GUTTER + size.width) / 2) {
      const middle = nsOf(look, x);
      show({ from: middle - (middle - at.from) * factor, to: middle + (at.to - middle) * factor });
    },
    pan: (part) => show({ from: at.from + part * (at.to - at.from), to: at.to + part * (at.to - at.from) }),
    bring(event) {
      const window = around(at, events.start[event], events.duration[event]);
      if (window) show(window);
      const placed = layout.byLane.get(events.lane[event]);
      const box = scroller.current;
      if (placed && box && (placed.y < box.scrollTop || placed.y + placed.height > box.scrollTop + size.height - AXIS))
        box.scrollTop = placed.y - size.height / 3;
    },
  };
}
