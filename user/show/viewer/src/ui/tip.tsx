// SPDX-License-Identifier: BSD-3-Clause
// The one tooltip of the page.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface At {
  x: number;
  y: number;
  above: number; // px of the page: it lies above this, or below y
  content: ComponentChildren;
}

const shown = signal<At | null>(null);

// below, above: it covers nothing between these.
export function showTip(x: number, below: number, content: ComponentChildren, above = below) {
  shown.value = { x, y: below, above, content };
}

export function hideTip() {
  if (shown.value) shown.value = null;
}

export function Tip() {
  const box = useRef<HTMLDivElement>(null);
  const at = shown.value;
  useLayoutEffect(() => {
    if (!box.current || !at) return;
    const { width, height } = box.current.getBoundingClientRect();
    const left = at.x + 14 + width > innerWidth ? at.x - width - 10 : at.x + 14;
    const top = at.y + 14 + height > innerHeight ? at.above - height - 10 : at.y + 14;
    box.current.style.left = `${Math.max(4, left)}px`;
    box.current.style.top = `${Math.max(4, top)}px`;
  });
  return at ? <div class="tip" ref={box} role="status">{at.content}</div> : null;
}

// Rows of words and values; null values are left out.
export function Pairs({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="pairs">
      {rows.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [
        <dt>{name}</dt>,
        <dd>{value}</dd>,
      ])}
    </dl>
  );
}
