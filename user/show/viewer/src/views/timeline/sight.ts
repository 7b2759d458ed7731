// SPDX-License-Identifier: BSD-3-Clause
// Which part of the run and of its tracks is in sight, and what brings another one there.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Timeline } from "../../data/timeline";
import { option, setOption } from "../../state/state";
import type { Layout } from "./layout";
import { AXIS, GUTTER, Look, nsOf, Window } from "./scene";

const SHORTEST = 50; // ns that a screen may show
const BELOW = 66; // px that the line below the tracks and the page's foot take
const REST = 250; // ms after which the URL has it

export interface Sight {
  look: Look;
  setScroll: (y: number) => void;
  show: (wanted: Window) => void;
  whole: () => void;
  zoom: (factor: number, x?: number) => void; // around a place of the canvas, its middle
  pan: (part: number) => void; // a part of the visible range
  bring: (event: number) => void;
  fit: (wanted: Window) => void; // with some room beside it
  reveal: (y: number, height: number) => void; // scrolls the tracks
}

export const wholeOf = (span: number): Window => ({ from: -0.01 * span, to: 1.01 * span });

function clamp(span: number, wanted: Window): Window {
  const length = Math.min(span * 1.02, Math.max(SHORTEST, wanted.to - wanted.from));
  const from = Math.min(Math.max(wanted.from, -0.01 * span), span * 1.01 - length);
  return { from, to: from + length };
}

function readWindow(span: number): Window {
  const [from, to] = option("timeline.at", "").split("-").map(Number);
  return to > from ? clamp(span, { from, to }) : wholeOf(span);
}

const written = ({ from, to }: Window) => `${Math.round(from)}-${Math.round(to)}`;

// The window in the URL, once it stays; and the one of a link, or of a step back in the history, once it is followed.
function useNote(at: Window, span: number, follow: (wanted: Window) => void) {
  const { from, to } = at;
  const known = option("timeline.at", "");
  const last = useRef(known);
  useEffect(() => {
    const note = setTimeout(() => {
      const whole = from <= -0.0099 * span && to >= 1.0099 * span;
      if (whole && !option("timeline.at", "")) return;
      last.current = written(at);
      setOption("timeline.at", last.current);
    }, REST);
    return () => clearTimeout(note);
  }, [from, to]);
  useEffect(() => {
    if (known === last.current) return;
    last.current = known;
    follow(readWindow(span));
  }, [known]);
}

// As wide as the page has room, as high as the tracks and the screen allow.
function useSize(scroller: RefObject<HTMLDivElement | null>, layout: Layout) {
  const [room, setRoom] = useState({ width: 900, most: 420 });
  useLayoutEffect(() => {
    const box = scroller.current!;
    const measured = () => {
      const main = box.closest(".main");
      const top = box.getBoundingClientRect().top + (main?.scrollTop ?? 0); // as it is before anything is scrolled
      const [width, most] = [box.clientWidth, Math.max(260, innerHeight - top - BELOW)];
      box.style.maxHeight = `${most + 2}px`;
      setRoom((last) => (last.width === width && last.most === most ? last : { width, most }));
    };
    const watch = new ResizeObserver(measured);
    watch.observe(box);
    addEventListener("resize", measured);
    measured();
    return () => {
      watch.disconnect();
      removeEventListener("resize", measured);
    };
  }, []);
  const { width, most } = room;
  const height = Math.min(most, layout.height + AXIS);
  return useMemo(() => ({ width, height }), [width, height]);
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
  useNote(at, span, setAt);
  const show = (wanted: Window) => setAt(clamp(span, wanted));
  const reveal = (y: number, height: number) => {
    const box = scroller.current;
    if (box && (y < box.scrollTop || y + height > box.scrollTop + size.height - AXIS)) box.scrollTop = y - size.height / 3;
  };
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
      if (placed) reveal(placed.y, placed.height);
    },
    reveal,
    fit({ from, to }) {
      const room = Math.max(SHORTEST, to - from) * 0.1;
      show({ from: from - room, to: to + room });
    },
  };
}
