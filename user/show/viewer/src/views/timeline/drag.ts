// SPDX-License-Identifier: BSD-3-Clause
// Dragging: it moves the tracks, or chooses a time.
import { useRef, useState } from "preact/hooks";
import type { Timeline } from "../../data/timeline";
import { hideTip } from "../../ui/tip";
import { chooseTime, Tool } from "./chosen";
import { GUTTER, Look, nsOf, Window } from "./scene";
import type { Sight } from "./sight";

const CLICK = 3; // px that a click may move

interface Held {
  tool: Tool;
  host: number;
  x: number;
  look: Look; // when it was taken hold of
  moved: boolean;
}

export interface Drag {
  brush: Window | null; // the time that is being chosen
  begin: (tool: Tool, host: number, x: number) => void;
  to: (x: number) => boolean; // whether something is held
  end: () => boolean; // whether it was a click
}

export function useDrag(timeline: Timeline, { look, show }: Sight): Drag {
  const drag = useRef<Held | null>(null);
  const [brush, setBrush] = useState<Window | null>(null);

  const pan = ({ x: before, look: { from, to } }: Held, x: number) => {
    const ns = (x - before) * ((to - from) / (look.width - GUTTER));
    show({ from: from - ns, to: to - ns });
  };

  const choose = ({ x: before }: Held, x: number) =>
    setBrush({ from: nsOf(look, Math.max(GUTTER, Math.min(before, x))), to: nsOf(look, Math.max(before, x)) });

  return {
    brush,
    begin: (tool, host, x) => (drag.current = { tool, host, x, look, moved: false }),
    to(x) {
      const held = drag.current;
      if (!held) return false;
      held.moved ||= Math.abs(x - held.x) > CLICK;
      if (!held.moved) return true;
      hideTip();
      if (held.tool === "pan") pan(held, x);
      else choose(held, x);
      return true;
    },
    end() {
      const held = drag.current;
      drag.current = null;
      if (held?.tool === "range" && brush) chooseTime(timeline, held.host, brush);
      setBrush(null);
      return !!held && !held.moved;
    },
  };
}
