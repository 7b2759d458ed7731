// SPDX-License-Identifier: BSD-3-Clause
// What is in sight answers at once; the rest follows, as many parts in each frame as take little time.
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { View } from "../data/view";
import { current } from "../state/state";

const LITTLE = 10; // ms
const waiting = new Set<() => void>();
export const busy = signal(false);

function soon() {
  requestAnimationFrame(() => setTimeout(async () => {
    const end = performance.now() + LITTLE;
    for (const work of waiting) {
      waiting.delete(work);
      work();
      await null; // it is shown by a microtask of its own
      if (performance.now() > end) break;
    }
    busy.value = waiting.size > 0;
    if (busy.value) soon();
  }));
}

function wait(work: () => void) {
  waiting.add(work);
  if (busy.peek()) return;
  busy.value = true;
  soon();
}

// A value that takes long to make: the last one, or null at first, until the frame that needs it has been shown.
export function useLater<Value>(make: () => Value, inputs: unknown[]): Value | null {
  const [value, setValue] = useState<Value | null>(null);
  useEffect(() => {
    const work = () => setValue(make());
    wait(work);
    return () => {
      waiting.delete(work);
    };
  }, inputs);
  return value;
}

interface Props {
  Body: FunctionComponent<{ view: View }>;
  first: boolean; // in sight when it is opened
}

export function Turn({ Body, first }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const near = useRef(first);
  const shown = useRef<View | null>(null);
  const [, again] = useReducer((n: number, _: void) => n + 1, 0);
  const latest = current.value;
  if (near.current) shown.current = latest;
  const catchUp = useRef(() => {
    if (shown.current === current.peek()) return;
    shown.current = current.peek();
    again();
  }).current;
  useEffect(() => {
    const watch = new IntersectionObserver((list) => {
      near.current = list[list.length - 1].isIntersecting;
      if (near.current) catchUp();
    });
    watch.observe(box.current!);
    return () => {
      watch.disconnect();
      waiting.delete(catchUp);
    };
  }, []);
  // Parts that come into sight because those above shrank are drawn in the same frame.
  useLayoutEffect(() => {
    if (shown.current === latest) return;
    const { top, bottom } = box.current!.getBoundingClientRect();
    if (top < innerHeight && bottom > 0) catchUp();
  });
  useEffect(() => {
    if (shown.current !== latest) wait(catchUp);
  }, [latest]);
  const of = shown.current;
  return <div class="turn" ref={box}>{useMemo(() => of && <Body view={of} />, [of])}</div>;
}
