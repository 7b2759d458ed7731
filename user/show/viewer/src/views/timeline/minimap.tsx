// SPDX-License-Identifier: BSD-3-Clause
// The whole run over the tracks, on the same scale of pixels: the share of all processes in MPI, and waiting in it, whatever the filters; a frame around
// the part in sight, which can be dragged to another place.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { MPI, Timeline } from "../../data/timeline";
import { fit } from "../../ui/canvas";
import { dark, mpiColour, styleColour, waitingColour } from "../../ui/colours";
import { share, time } from "../../ui/format";
import { useLater } from "../../ui/turns";
import { GUTTER } from "./scene";
import { Sight, wholeOf } from "./sight";

const HEIGHT = 40;
const PARTS = 2048; // of the run, about as many as there are pixels

interface Shares {
  busy: Float64Array; // ns, by part of the run
  waited: Float64Array;
  most: number; // ns of all lanes in the run
}

// Adds an amount evenly to the places from `start` on.
function spread(out: Float64Array, start: number, wide: number, amount: number) {
  for (let x = Math.max(0, Math.floor(start)); x < Math.min(out.length, start + wide); x++)
    out[x] += (amount * (Math.min(x + 1, start + wide) - Math.max(x, start))) / wide;
}

// From the finest level whose steps are not below half a part, else the coarsest. Once for all widths, which change with each panel.
function sharesOf(timeline: Timeline): Shares {
  const { from, to } = wholeOf(timeline.span);
  const part = (to - from) / PARTS;
  const level = timeline.levels.find(({ bucket }) => bucket >= part / 2) ?? timeline.levels.at(-1);
  const lanes = timeline.lanes.filter((lane) => lane.layer === MPI);
  const out = { busy: new Float64Array(PARTS), waited: new Float64Array(PARTS), most: Math.max(1, lanes.length * (to - from)) };
  for (const lane of level ? lanes : []) {
    const { bucket, busy, waited } = level!.columns;
    const zero = level!.zero.get(lane.host) ?? 0;
    for (let i = level!.bounds[lane.index]; i < timeline.levelEnd(level!, lane); i++) {
      const start = (zero + bucket[i] * level!.bucket - from) / part;
      spread(out.busy, start, level!.bucket / part, busy[i]);
      spread(out.waited, start, level!.bucket / part, waited[i]);
    }
  }
  return out;
}

function draw(canvas: HTMLCanvasElement, width: number, { busy, waited, most }: Shares) {
  const context = fit(canvas, width, HEIGHT);
  context.fillStyle = styleColour("gap");
  context.fillRect(0, 0, width, HEIGHT);
  const bars = (parts: Float64Array, colour: string) => {
    const values = new Float64Array(width);
    parts.forEach((ns, i) => spread(values, (i * width) / PARTS, width / PARTS, ns));
    context.fillStyle = colour;
    for (let x = 0; x < width; x++) {
      const tall = Math.min(HEIGHT, ((values[x] * width) / most) * HEIGHT);
      if (values[x] > 0) context.fillRect(x, HEIGHT - Math.max(1, tall), 1, Math.max(1, tall));
    }
  };
  bars(busy, mpiColour());
  bars(waited, waitingColour());
}

export function Minimap({ timeline, sight }: { timeline: Timeline; sight: Sight }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const held = useRef(false);
  const { look } = sight;
  const width = Math.max(1, look.width - GUTTER);
  const shares = useLater(() => sharesOf(timeline), [timeline]);
  useLayoutEffect(() => {
    if (shares) draw(canvas.current!, width, shares);
  }, [shares, width, dark.value]);
  const whole = wholeOf(timeline.span);
  const part = (ns: number) => Math.max(0, Math.min(width, ((ns - whole.from) / (whole.to - whole.from)) * width));
  const [left, right] = [part(look.from), part(look.to)];
  const to = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const middle = whole.from + ((event.clientX - box.left) / width) * (whole.to - whole.from);
    const half = (look.to - look.from) / 2;
    sight.show({ from: middle - half, to: middle + half });
  };
  const said = useMemo(() => {
    const of = (values: Float64Array) => share(values.reduce((a, b) => a + b, 0), shares!.most);
    return shares ? `${of(shares.busy)} of the processes' time in MPI, ${of(shares.waited)} waiting. ` : "";
  }, [shares]);
  return (
    <div class="minimap">
      <span class="soft" style={{ width: `${GUTTER - 8}px` }}>whole run, {time(timeline.span)}</span>
      <div
        class="strip-box" style={{ width: `${width}px`, height: `${HEIGHT}px` }}
        onPointerDown={(event) => {
          held.current = true;
          (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
          to(event);
        }}
        onPointerMove={(event) => held.current && to(event)} onPointerUp={() => (held.current = false)} onPointerCancel={() => (held.current = false)}
        onDblClick={sight.whole}
      >
        <canvas
          ref={canvas} role="img" style={{ width: `${width}px`, height: `${HEIGHT}px` }}
          aria-label={`The whole run: ${said}In sight: from ${time(Math.max(0, look.from))} on, ${time(look.to - look.from)}.`}
        />
        <i class="shade" style={{ left: 0, width: `${left}px` }} />
        <i class="frame" style={{ left: `${left}px`, width: `${Math.max(3, right - left)}px` }} />
        <i class="shade" style={{ left: `${right}px`, width: `${width - right}px` }} />
      </div>
    </div>
  );
}

