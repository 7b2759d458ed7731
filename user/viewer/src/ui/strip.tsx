// SPDX-License-Identifier: BSD-3-Clause
// Bytes or transfers over time by transport, above every view; a range drawn in it is a filter.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { kind, KIND_WORDS, measure, model, range, settled } from "../state/state";
import { dark, styleColour, transportColour } from "./colours";
import { bucketStart, rangeText } from "./chips";
import { bytes, count, instant, roundStep, time } from "./format";
import { hideTip, Pairs, showTip } from "./tip";

const MOST = 6; // transports with a colour of their own here; the others are added up
const HEIGHT = 74;

interface Layer {
  name: string;
  colour: string;
  values: Float64Array;
}

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

// Each layer is drawn from zero to the sum of itself and those below, the tallest one first.
function stacked(all: Layer[]): uPlot.AlignedData {
  const { buckets } = model.directory.time;
  const x = Float64Array.from({ length: buckets }, (_, i) => i + 0.5);
  const sums: Float64Array[] = [];
  const sum = new Float64Array(buckets);
  for (const layer of all) {
    for (let i = 0; i < buckets; i++) sum[i] += layer.values[i];
    sums.push(sum.slice());
  }
  return [x, ...sums.reverse()] as unknown as uPlot.AlignedData;
}

function describe(all: Layer[], bucket: number) {
  const { bucket_ns } = model.directory.time;
  const write = measure.value === "bytes" ? bytes : count;
  const rows = all.filter((layer) => layer.values[bucket]).map((layer): [string, string] => [layer.name, write(layer.values[bucket])]);
  return (
    <>
      <h4>{instant(Math.max(0, bucketStart(bucket)), bucket_ns)} and {time(bucket_ns)} on</h4>
      <Pairs rows={rows.length ? rows : [["nothing", ""]]} />
    </>
  );
}

function choose(from: number, to: number) {
  const { buckets } = model.directory.time;
  const a = Math.max(0, Math.floor(from));
  const b = Math.min(buckets, Math.ceil(to));
  range.value = b > a ? { from: a, to: b } : null;
}

// Ticks at round times, which are not the edges of buckets.
function ticks(width: number): number[] {
  const { buckets, bucket_ns } = model.directory.time;
  const step = roundStep((buckets * bucket_ns * 90) / width);
  const zero = bucketStart(0);
  const out: number[] = [];
  for (let at = 0; at < zero + buckets * bucket_ns; at += step) out.push((at - zero) / bucket_ns);
  return out;
}

function build(host: HTMLElement, all: Layer[], hover: (bucket: number | null, u: uPlot) => void): uPlot {
  const { buckets, bucket_ns } = model.directory.time;
  const write = measure.value === "bytes" ? bytes : count;
  const ink = styleColour("soft");
  const grid = { stroke: styleColour("line"), width: 1 };
  const tick = (x: number, step: number, i: number) => (i ? instant(Math.round(x * bucket_ns + bucketStart(0)), Math.round(step * bucket_ns)) : "0");
  const font = "11px system-ui, sans-serif";
  const bars = uPlot.paths.bars!({ size: [1.01, 10000], align: 0 });
  const axis = { stroke: ink, grid, font, ticks: { show: false } };
  const options: uPlot.Options = {
    width: Math.max(200, host.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: false, range: [0, buckets] }, y: { range: (_u, _min, most) => [0, Math.max(1, most) * 1.05] } },
    axes: [
      { ...axis, size: 20, space: 90, splits: (u) => ticks(u.over.clientWidth || host.clientWidth), values: (_u, at) => at.map((x, i) => tick(x, at[1] - at[0], i)) },
      { ...axis, size: 62, splits: (u) => [0, (u.scales.y.max ?? 1) / 1.05], values: (_u, at) => at.map((value) => (value ? write(value) : "0")) },
    ],
    series: [{}, ...[...all].reverse().map((layer) => ({ fill: layer.colour, width: 0, paths: bars, points: { show: false } }))],
    hooks: {
      setSelect: [(u) => u.select.width > 2 && choose(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"))],
      setCursor: [(u) => hover(u.cursor.left !== undefined && u.cursor.left >= 0 ? Math.floor(u.posToVal(u.cursor.left, "x")) : null, u)],
    },
  };
  return new uPlot(options, stacked(all), host);
}

function mark(u: uPlot) {
  const at = range.value;
  const left = at ? u.valToPos(at.from, "x") : 0;
  const width = at ? u.valToPos(at.to, "x") - left : 0;
  u.setSelect({ left, width, top: 0, height: at ? u.over.clientHeight : 0 }, false);
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

export function Strip() {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const all = layers();
  const shown = useRef(all);
  shown.current = all;
  // Made anew for other layers or colours alone.
  const look = [all.map((layer) => layer.name).join("\n"), measure.value, dark.value];
  useEffect(() => {
    const place = host.current!;
    const hover = (bucket: number | null, u: uPlot) => {
      if (bucket === null || bucket < 0) return hideTip();
      const box = u.over.getBoundingClientRect();
      showTip(box.left + (u.cursor.left ?? 0), box.bottom - 20, describe(shown.current, bucket));
    };
    const u = (plot.current = build(place, all, hover));
    mark(u);
    const seen = new ResizeObserver(() => {
      u.setSize({ width: Math.max(200, place.clientWidth), height: HEIGHT });
      mark(u);
    });
    seen.observe(place);
    const click = (event: MouseEvent) => event.detail === 2 && (range.value = null);
    u.over.addEventListener("click", click);
    return () => {
      seen.disconnect();
      u.destroy();
      hideTip();
    };
  }, look);
  useEffect(() => {
    plot.current?.setData(stacked(all));
    if (plot.current) mark(plot.current);
  }, [settled.value, range.value]);
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
      {!all.length && <p class="empty small">{untimed ? "The captures were made with --count: sums, without times." : "Nothing passes the filters."}</p>}
      <div
        ref={host} class="plot" tabIndex={0} onKeyDown={move} role="group"
        aria-label={`${what} by transport. Arrow keys choose and move a time range, with shift they resize it, escape clears it. ${rangeText()}`}
      />
    </section>
  );
}
