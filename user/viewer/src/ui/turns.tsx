// SPDX-License-Identifier: BSD-3-Clause
// What is in sight answers at once; the rest follows, one part in each frame.
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";
import type { View } from "../data/engine";
import { current } from "../state/state";

const waiting = new Set<() => void>();
export const busy = signal(false);

function soon() {
  requestAnimationFrame(() => setTimeout(() => {
    const [work] = waiting;
    waiting.delete(work);
    work?.();
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
  useEffect(() => {
    if (shown.current !== latest) wait(catchUp);
  }, [latest]);
  return <div class="turn" ref={box}>{shown.current && <Body view={shown.current} />}</div>;
}
