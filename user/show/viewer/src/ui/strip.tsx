// SPDX-License-Identifier: BSD-3-Clause
// Bytes or transfers over time by transport, above every view; a range drawn in it is a filter.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { withoutTransfers } from "../data/layers";
import { filtered, kind, KIND_WORDS, measure, model, range, settled } from "../state/state";
import { bucketStart, rangeText } from "./chips";
import { dark, transportColour } from "./colours";
import { bytes, count, instant, roundStep, time } from "./format";
import { BELOW, drawStrip, Layer, LEFT, tallest, Ticks } from "./strip-draw";
import { hideTip, Pairs, showTip } from "./tip";

const MOST = 6; // transports with a colour of their own here; the others are added up
const HEIGHT = 74;
const NEAR = 2; // px: no pointer gets to the end itself

function layers(): Layer[] {
  const f = model.facts.transfers;
  const all = settled.value.overTime("transfers", measure.value, f.column("transport"))
    .map(({ code, values }) => ({ name: model.names[code] ?? "unknown", values, sum: values.reduce((a, b) => a + b, 0) }))
    .filter((layer) => layer.sum > 0)
    .sort((a, b) => b.sum - a.sum);
  const out: Layer[] = all.slice(0, MOST).map(({ name, values }) => ({ name, values, colour: transportColour(name) }));
  const rest = all.slice(MOST);
  if (rest.length) {
    const values = new Float64Array(rest[0].values.length);
    for (const layer of rest) layer.values.forEach((value, i) => (values[i] += value));
    out.push({ name: `${rest.length} others`, values, colour: transportColour(null) });
  }
  return out;
}

function describe(all: Layer[], bucket: number) {
  const { bucket_ns } = model.directory.time;
  const write = measure.value === "bytes" ? bytes : count;
  const rows = all.map((layer): [string, string] => [layer.name, layer.values[bucket] ? write(layer.values[bucket]) : ""]);
  return (
    <>
      <h4>{instant(Math.max(0, bucketStart(bucket)), bucket_ns)} and {time(bucket_ns)} on</h4>
      <Pairs rows={rows.some(([, value]) => value) ? rows : [["nothing", " "]]} />
    </>
  );
}

function choose(from: number, to: number) {
  const { buckets } = model.directory.time;
  const a = Math.max(0, Math.floor(from));
  const b = Math.min(buckets, Math.ceil(to));
  range.value = b > a ? { from: a, to: b } : null;
}

// At round times, which are not the edges of buckets.
function ticks(all: Layer[], width: number): Ticks {
  const { buckets, bucket_ns } = model.directory.time;
  const step = roundStep((buckets * bucket_ns * 90) / width);
  const zero = bucketStart(0);
  const x: Ticks["x"] = [];
  for (let at = 0; at < zero + buckets * bucket_ns; at += step) x.push({ at: (at - zero) / bucket_ns, text: at ? instant(at, step) : "0" });
  const most = tallest(all, buckets);
  return { x, top: most ? (measure.value === "bytes" ? bytes : count)(most) : "" };
}

function move(event: KeyboardEvent) {
  const at = range.value;
  const { buckets } = model.directory.time;
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (event.key === "Escape" && at) range.value = null;
  else if (step && event.shiftKey && at) choose(at.from, Math.max(at.from + 1, at.to + step));
  else if (step && at) choose(Math.min(buckets - 1, Math.max(0, at.from + step)), Math.max(1, at.to + step));
  else if (step) choose(0, Math.max(1, Math.round(buckets / 10)));
  else return;
  event.preventDefault();
}

interface Brush {
  from: number; // buckets
  to: number;
}

// Over the bars: the selection, and the bar under the pointer.
function Over({ all }: { all: Layer[] }) {
  const { buckets } = model.directory.time;
  const [brush, setBrush] = useState<Brush | null>(null);
  const [at, setAt] = useState<number | null>(null);
  const start = useRef<number | null>(null);
  const bucketAt = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const x = event.clientX - box.left;
    return x >= box.width - NEAR ? buckets : Math.max(0, x / box.width) * buckets;
  };
  const hover = (event: PointerEvent) => {
    const now = bucketAt(event);
    if (start.current !== null) return setBrush({ from: Math.min(start.current, now), to: Math.max(start.current, now) });
    setAt(now);
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    showTip(event.clientX, box.bottom - 20, describe(all, Math.min(buckets - 1, Math.floor(now))));
  };
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    start.current = bucketAt(event);
    hideTip();
  };
  const release = (event: PointerEvent) => {
    const width = (event.currentTarget as HTMLElement).clientWidth;
    if (brush && ((brush.to - brush.from) / buckets) * width > 2) choose(brush.from, brush.to);
    start.current = null;
    setBrush(null);
  };
  const leave = () => {
    setAt(null);
    hideTip();
  };
  const part = (bucket: number) => `${(100 * bucket) / buckets}%`;
  const picked = brush ?? range.value;
  return (
    <div
      class="over" style={{ left: `${LEFT}px`, bottom: `${BELOW}px` }} onPointerMove={hover} onPointerDown={press} onPointerUp={release}
      onPointerCancel={release} onPointerLeave={leave} onDblClick={() => (range.value = null)}
    >
      {picked && <i class="picked" style={{ left: part(picked.from), width: part(picked.to - picked.from) }} />}
      {at !== null && !brush && <i class="cursor" style={{ left: part(at) }} />}
    </div>
  );
}

function words(all: Layer[]): string {
  const write = measure.value === "bytes" ? bytes : count;
  return all.map(({ name, values }) => `${name} ${write(values.reduce((a, b) => a + b, 0))}`).join(", ") || "nothing";
}

function Bars({ all }: { all: Layer[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const place = canvas.current!.parentElement!;
    const seen = new ResizeObserver(([{ contentRect }]) => setWidth(Math.max(200, Math.floor(contentRect.width))));
    seen.observe(place);
    return () => seen.disconnect();
  }, []);
  useEffect(() => hideTip, []);
  useLayoutEffect(() => {
    if (width) drawStrip(canvas.current!, width, HEIGHT, all, model.directory.time.buckets, ticks(all, width - LEFT));
  }, [all, width, dark.value]);
  return <canvas ref={canvas} role="img" aria-label={`Bars of all times: ${words(all)}`} style={{ width: `${width}px`, height: `${HEIGHT}px` }} />;
}

export function Strip() {
  const shown = settled.value;
  const all = useMemo(layers, [shown.selection.wanted, shown.selection.sizes, measure.value, dark.value]); // of all times
  const { untimed } = model.directory.timeline;
  const what = `${measure.value === "bytes" ? "Bytes" : "Transfers"} over time`;
  const about = `${KIND_WORDS[kind.value]}, steps of ${time(model.directory.time.bucket_ns)}`;
  return (
    <section class="card strip" aria-label={what}>
      <header>
        <h2>{what}</h2>
        <span class="soft">
          {range.value ? rangeText() : about}
          {!range.value && <span class="no-print">; drag to choose a time for all views</span>}
        </span>
        <span class="legend end">
          {all.map((layer) => <span><i class="swatch" style={{ background: layer.colour }} />{layer.name}</span>)}
        </span>
      </header>
      {!all.length && <p class="empty small">{untimed ? "The captures were made with --count: sums, without times." : withoutTransfers(model.report) ?? (filtered.value ? "Nothing passes the filters." : "Nothing was moved.")}</p>}
      <div
        class="plot" tabIndex={0} onKeyDown={move} role="group"
        aria-label={`${what} by transport. Arrow keys choose and move a time range, with shift they resize it, escape clears it. ${rangeText()}`}
      >
        <Bars all={all} />
        <Over all={all} />
      </div>
    </section>
  );
}
