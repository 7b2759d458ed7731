// SPDX-License-Identifier: BSD-3-Clause
// The whole run over the tracks, on the same scale of pixels: the share of all processes in MPI, and waiting in it, whatever the filters; a frame around
// the part in sight, which can be dragged to another place.
import { useLayoutEffect, useRef } from "preact/hooks";
import { MPI, Timeline } from "../../data/timeline";
import { fit } from "../../ui/canvas";
import { dark, mpiColour, styleColour, waitingColour } from "../../ui/colours";
import { share, time } from "../../ui/format";
import { useLater } from "../../ui/turns";
import { GUTTER } from "./scene";
import { Sight, wholeOf } from "./sight";

const HEIGHT = 40;

interface Shares {
  busy: Float64Array; // by pixel, ns
  waited: Float64Array;
  most: number; // ns of all lanes in a pixel
}

// From the finest level whose steps are not below half a pixel, else the coarsest.
function sharesOf(timeline: Timeline, width: number): Shares {
  const { from, to } = wholeOf(timeline.span);
  const pixel = (to - from) / width;
  const level = timeline.levels.find(({ bucket }) => bucket >= pixel / 2) ?? timeline.levels.at(-1);
  const out = { busy: new Float64Array(width), waited: new Float64Array(width), most: 0 };
  const lanes = timeline.lanes.filter((lane) => lane.layer === MPI);
  out.most = Math.max(1, lanes.length * pixel);
  for (const lane of level ? lanes : []) {
    const { bucket, busy, waited } = level!.columns;
    const zero = level!.zero.get(lane.host) ?? 0;
    for (let i = level!.bounds[lane.index]; i < timeline.levelEnd(level!, lane); i++) {
      const start = (zero + bucket[i] * level!.bucket - from) / pixel;
      const wide = level!.bucket / pixel;
      for (let x = Math.max(0, Math.floor(start)); x < Math.min(width, start + wide); x++) {
        const part = (Math.min(x + 1, start + wide) - Math.max(x, start)) / wide;
        out.busy[x] += busy[i] * part;
        out.waited[x] += waited[i] * part;
      }
    }
  }
  return out;
}

function draw(canvas: HTMLCanvasElement, width: number, { busy, waited, most }: Shares) {
  const context = fit(canvas, width, HEIGHT);
  context.fillStyle = styleColour("gap");
  context.fillRect(0, 0, width, HEIGHT);
  const bars = (values: Float64Array, colour: string) => {
    context.fillStyle = colour;
    for (let x = 0; x < values.length; x++) {
      const tall = Math.min(HEIGHT, (values[x] / most) * HEIGHT);
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
  const shares = useLater(() => sharesOf(timeline, width), [timeline, width]);
  useLayoutEffect(() => {
    if (shares) draw(canvas.current!, shares.busy.length, shares);
  }, [shares, dark.value]);
  const whole = wholeOf(timeline.span);
  const part = (ns: number) => Math.max(0, Math.min(width, ((ns - whole.from) / (whole.to - whole.from)) * width));
  const [left, right] = [part(look.from), part(look.to)];
  const to = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const middle = whole.from + ((event.clientX - box.left) / width) * (whole.to - whole.from);
    const half = (look.to - look.from) / 2;
    sight.show({ from: middle - half, to: middle + half });
  };
  const sum = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
  const said = shares ? `${share(sum(shares.busy), shares.most * width)} of the processes' time in MPI, ${share(sum(shares.waited), shares.most * width)} waiting. ` : "";
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

