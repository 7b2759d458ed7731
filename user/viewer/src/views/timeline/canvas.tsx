// SPDX-License-Identifier: BSD-3-Clause
// The timeline's canvas: zoom, pan, hover, click, and choosing a range of time.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Chain, chainOf, members } from "../../data/chain";
import { combinationsOf } from "../../data/combinations";
import { View } from "../../data/engine";
import { Lane, Level, Timeline } from "../../data/timeline";
import { chosen, engine, model, option, range, setOption, sizes } from "../../state/state";
import { Choice } from "../../ui/choice";
import { actionColour, ACTIONS, dark, transportColour } from "../../ui/colours";
import { count, time } from "../../ui/format";
import { hideTip, showTip } from "../../ui/tip";
import { Colours } from "./colours";
import { drawMarks, drawTracks } from "./draw";
import { Layout, layoutTracks, PlacedLane, Track } from "./layout";
import { meansFor } from "./means";
import { AXIS, GUTTER, Look, nsOf, Scene, Window } from "./scene";
import { Details, EventTip, StepTip } from "./words";

const SHORTEST = 50; // ns that a screen may show
const NEAR = 3; // px around an event that count as on it

function clamp(span: number, wanted: Window): Window {
  const length = Math.min(span * 1.02, Math.max(SHORTEST, wanted.to - wanted.from));
  const from = Math.min(Math.max(wanted.from, -0.01 * span), span * 1.01 - length);
  return { from, to: from + length };
}

function readWindow(span: number): Window {
  const [from, to] = option("timeline.at", "").split("-").map(Number);
  return to > from ? clamp(span, { from, to }) : { from: -0.01 * span, to: span * 1.01 };
}

// Which tracks the filters leave; events of the others are dimmed, their place stays.
function wish() {
  const processes = chosen.value.get("process");
  const hosts = chosen.value.get("host");
  const [transports, devices] = [chosen.value.get("transport"), chosen.value.get("device")];
  const host = (id: number) => !hosts?.size || hosts.has(id + 1);
  return {
    host, process: (code: number) => !processes?.size || processes.has(code),
    device: (transport: number, device: number) =>
      (!transports?.size || transports.has(transport)) && (!devices?.size || devices.has(device)),
  };
}

// Filters that take tracks away.
const TRACKS = ["process", "host", "transport", "device"];

// Tracks stay the same object while they are the same ones.
function useLayout(timeline: Timeline): Layout {
  const last = useRef<Layout | null>(null);
  const asked = TRACKS.map((id) => [...(chosen.value.get(id) ?? [])].join()).join(";");
  return useMemo(() => {
    const next = layoutTracks(model, timeline, wish());
    return (last.current = last.current && alike(last.current, next) ? last.current : next);
  }, [timeline, asked]);
}

function alike(a: Layout, b: Layout): boolean {
  const same = (one: Track, other: Track) =>
    one.host === other.host && one.y === other.y && one.lanes.length === other.lanes.length &&
    one.lanes.every(({ lane }, i) => lane === other.lanes[i].lane);
  return a.height === b.height && a.tracks.length === b.tracks.length && a.tracks.every((track, i) => same(track, b.tracks[i]));
}

function fit(canvas: HTMLCanvasElement, { width, height }: Look): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1;
  const wanted = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wanted[0] || canvas.height !== wanted[1]) {
    [canvas.width, canvas.height] = wanted;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// A range is of each host's own time, so it lies elsewhere for each.
function chosenTime(timeline: Timeline): Scene["chosen"] {
  const at = range.value;
  const { hosts, bucket_ns } = model.directory.time;
  const zeros = new Map(hosts.map((row) => [row.host, row.zero_ns + timeline.begin(row.host)]));
  const start = (host: number, bucket: number) => (zeros.get(host) ?? 0) + bucket * bucket_ns;
  return at && ((host) => ({ from: start(host, at.from), to: start(host, at.to) }));
}

// Of the host of the tracks it is drawn over.
function chooseTime(timeline: Timeline, host: number, from: number, to: number) {
  const { hosts, bucket_ns, buckets } = model.directory.time;
  const zero = (hosts.find((row) => row.host === host)?.zero_ns ?? 0) + timeline.begin(host);
  const a = Math.max(0, Math.floor((from - zero) / bucket_ns));
  const b = Math.min(buckets, Math.ceil((to - zero) / bucket_ns));
  range.value = b > a ? { from: a, to: b } : null;
}

function laneAt(layout: Layout, y: number): PlacedLane | null {
  const track = layout.tracks.find((t) => y >= t.y && y < t.y + t.height);
  return track?.lanes.find((lane) => y >= lane.y - 1 && y < lane.y + lane.height + 1) ?? null;
}

// The event under the pointer, the shortest of several.
function eventAt(timeline: Timeline, placed: PlacedLane, look: Look, x: number, y: number): number | null {
  const { lane } = placed;
  const slack = (NEAR * (look.to - look.from)) / (look.width - GUTTER);
  const at = nsOf(look, x);
  const [first, end] = timeline.within(lane, at - slack, at + slack);
  const row = Math.min(lane.rows - 1, Math.max(0, Math.floor(((y - placed.y) * lane.rows) / placed.height)));
  let best: number | null = null;
  for (let i = first; i < end; i++) {
    const event = timeline.event(lane, i);
    const { start, duration } = timeline.events;
    if (lane.row[i] !== row || start[event] + duration[event] < at - slack) continue;
    if (best === null || duration[event] <= duration[best]) best = event;
  }
  return best;
}

function stepAt(timeline: Timeline, level: Level, lane: Lane, look: Look, x: number) {
  const zero = level.zero.get(lane.host) ?? 0;
  const bucket = Math.floor((nsOf(look, x) - zero) / level.bucket);
  const row = timeline.levelRow(level, lane, bucket);
  const { columns } = level;
  if (row >= timeline.levelEnd(level, lane) || columns.bucket[row] !== bucket) return null;
  return {
    started: columns.started[row], busy: columns.busy[row], width: level.bucket, bytes: columns.bytes[row],
    name: model.names[columns.name[row]] ?? "unknown", share: columns.share[row], at: zero + bucket * level.bucket,
  };
}

function Legend() {
  const f = model.facts.transfers.column("transport");
  const transports = Array.from(combinationsOf([f]).codes[0], (code) => model.names[code]);
  const seen = new Set(actionNames().map(actionColour));
  const actions = ACTIONS.filter(([, name]) => seen.has(actionColour(name)));
  return (
    <div class="legend timeline-legend">
      <span class="soft">MPI, UCP</span>
      {actions.map(([label, name]) => <span><i class="swatch" style={{ background: actionColour(name) }} />{label}</span>)}
      <span class="soft">UCT, devices</span>
      {transports.map((name) => <span title={name ?? ""}><i class="swatch" style={{ background: transportColour(name) }} />{name ?? "unknown"}</span>)}
      <span class="soft">control, copies: half as high</span>
    </div>
  );
}

function actionNames(): (string | null)[] {
  const columns = [model.facts.calls.column("function"), model.facts.ops.column("ucp_op")];
  return columns.flatMap((column) => Array.from(combinationsOf([column]).codes[0], (code) => model.names[code]));
}

type Drag = { mode: "pan" | "range"; host: number; x: number; window: Window; moved: boolean };

export function Canvas({ timeline, all }: { timeline: Timeline; all: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<Window>(() => readWindow(timeline.span));
  const [size, setSize] = useState({ width: 900, height: 420 });
  const [scroll, setScroll] = useState(0);
  const [hover, setHover] = useState<number | null>(null);
  const [brush, setBrush] = useState<Window | null>(null);
  const chosenEvent = Number(option("timeline.event", "-1"));
  const selected = chosenEvent >= 0 && chosenEvent < timeline.events.length ? chosenEvent : null;
  const drag = useRef<Drag | null>(null);
  const tool = option("timeline.tool", "pan") as Drag["mode"];
  const colours = useMemo(() => new Colours(model), []);
  const look: Look = { ...at, ...size, scroll };
  const layout = useLayout(timeline);
  // Data and control are both drawn.
  const passing = useMemo(
    () => new View(engine, { wanted: chosen.value, sizes: sizes.value, range: null }, null), [chosen.value, sizes.value]);
  const focus = hover ?? selected;
  const chain: Chain | null = focus === null ? null : chainOf(timeline, focus);
  const means = useMemo(() => meansFor(timeline, look, layout), [timeline, layout, at, size, scroll]);
  const base = useMemo(() => document.createElement("canvas"), []);

  const select = (event: number | null) => setOption("timeline.event", event === null ? "-1" : `${event}`);
  const show = (wanted: Window) => setAt(clamp(timeline.span, wanted));
  const zoom = (factor: number, x = (GUTTER + size.width) / 2) => {
    const middle = nsOf(look, x);
    show({ from: middle - (middle - at.from) * factor, to: middle + (at.to - middle) * factor });
  };
  const pan = (part: number) => show({ from: at.from + part * (at.to - at.from), to: at.to + part * (at.to - at.from) });

  // Brings an event into sight: its lane, its time, and a scale at which it can be seen.
  const go = (event: number) => {
    select(event);
    const start = timeline.events.start[event];
    const length = timeline.events.duration[event];
    const span = at.to - at.from;
    const wanted = length < span / 400 ? Math.max(SHORTEST, length * 60, 2000) : length > span ? length * 1.5 : span;
    const [first, last] = [start, start + length];
    if (wanted !== span || first < at.from || last > at.to)
      show({ from: (first + last) / 2 - wanted / 2, to: (first + last) / 2 + wanted / 2 });
    const placed = layout.byLane.get(timeline.events.lane[event]);
    const box = scroller.current;
    if (placed && box && (placed.y < box.scrollTop || placed.y + placed.height > box.scrollTop + size.height - AXIS))
      box.scrollTop = placed.y - size.height / 3;
  };

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

  useEffect(() => {
    const note = setTimeout(() => {
      const whole = at.from <= -0.0099 * timeline.span && at.to >= 1.0099 * timeline.span;
      if (!whole || option("timeline.at", "")) setOption("timeline.at", `${Math.round(at.from)}-${Math.round(at.to)}`);
    }, 250);
    return () => clearTimeout(note);
  }, [at.from, at.to]);

  useEffect(() => hideTip, []);

  const scene: Scene = {
    timeline, layout, look, colours, fails: (sort) => passing.fails(sort), sizes: sizes.value, chain: new Set(chain ? members(chain) : []),
    arrow: chain?.arrow ?? null, chosen: brush ? () => brush : chosenTime(timeline),
  };
  // Sums over steps are not filtered.
  useLayoutEffect(
    () => drawTracks(fit(base, look), scene, means),
    [timeline, at, size, scroll, layout, means, dark.value, means.mode === "levels" ? null : passing],
  );
  useLayoutEffect(() => {
    const context = fit(canvas.current!, look);
    context.clearRect(0, 0, look.width, look.height);
    context.drawImage(base, 0, 0, look.width, look.height);
    drawMarks(context, scene);
  }, [timeline, at, size, scroll, layout, passing, focus, brush, range.value, dark.value]);
  const steps = means.level ? `sums over steps of ${time(means.level.bucket)}` : "single events";
  const said = means.mode === "both" ? `${steps}, single events where they were kept` : steps;

  const position = (event: MouseEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  const point = (event: PointerEvent) => {
    const [x, y] = position(event);
    if (drag.current) return dragTo(x);
    const placed = x > GUTTER && y > AXIS ? laneAt(layout, y - AXIS + scroll) : null;
    const found = placed && means.mode !== "levels" ? eventAt(timeline, placed, look, x, y - AXIS + scroll) : null;
    if (found !== hover) setHover(found);
    if (found !== null) return showTip(event.clientX, event.clientY, <EventTip timeline={timeline} event={found} chain={chainOf(timeline, found)} />);
    const step = placed && means.level ? stepAt(timeline, means.level, placed.lane, look, x) : null;
    if (step) return showTip(event.clientX, event.clientY, <StepTip lane={placed!.lane} step={step} />);
    return placed && means.mode === "events" ? gapTip(event, placed, x) : hideTip();
  };

  const gapTip = (event: PointerEvent, { lane }: PlacedLane, x: number) => {
    const ns = nsOf(look, x);
    const [, next] = timeline.within(lane, ns, ns);
    const before = next > 0 ? lane.reach[next - 1] : null;
    const after = next < timeline.count(lane) ? timeline.events.start[timeline.event(lane, next)] : null;
    if (before === null || after === null || before > ns) return hideTip();
    showTip(event.clientX, event.clientY, <p>nothing here for {time(after - before)}</p>);
  };

  const dragTo = (x: number) => {
    const held = drag.current!;
    held.moved ||= Math.abs(x - held.x) > 3;
    if (!held.moved) return;
    hideTip();
    const scale = (held.window.to - held.window.from) / (size.width - GUTTER);
    if (held.mode === "pan")
      show({ from: held.window.from - (x - held.x) * scale, to: held.window.to - (x - held.x) * scale });
    else setBrush({ from: nsOf(look, Math.max(GUTTER, Math.min(held.x, x))), to: nsOf(look, Math.max(held.x, x)) });
  };

  const press = (event: PointerEvent) => {
    const [x, y] = position(event);
    if (event.button !== 0 || x < GUTTER) return;
    const track = layout.tracks.find((t) => t.y + t.height > y - AXIS + scroll) ?? layout.tracks[0];
    canvas.current!.setPointerCapture(event.pointerId);
    drag.current = { mode: event.shiftKey ? "range" : tool, host: track?.host ?? 0, x, window: at, moved: false };
  };

  const release = () => {
    const held = drag.current;
    drag.current = null;
    if (held?.mode === "range" && brush) chooseTime(timeline, held.host, brush.from, brush.to);
    setBrush(null);
    if (held && !held.moved) select(hover);
  };

  const wheel = (event: WheelEvent) => {
    const [x] = position(event);
    if (event.ctrlKey || event.metaKey || event.altKey) zoom(Math.exp(event.deltaY * 0.0022), Math.max(GUTTER, x));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      pan((event.shiftKey ? event.deltaY : event.deltaX) / (size.width - GUTTER));
    else return; // scrolls the tracks
    event.preventDefault();
  };

  useEffect(() => {
    const element = canvas.current!;
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const along = (step: number) => {
    if (selected === null) {
      const placed = layout.tracks.flatMap((track) => track.lanes).find(({ lane }) => timeline.count(lane) > 0);
      if (placed) go(timeline.event(placed.lane, timeline.within(placed.lane, at.from, at.to)[0]));
      return;
    }
    const lane = timeline.lanes[timeline.events.lane[selected]];
    const next = selected + step;
    if (next >= lane.first && next < lane.end) go(next);
  };
  const inwards = (step: number) => {
    if (selected === null) return;
    const next = step < 0 ? timeline.parentOf(selected) : timeline.childrenOf(selected)[0];
    if (next !== null && next !== undefined) go(next);
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), a: () => pan(-0.15), d: () => pan(0.15),
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), w: () => zoom(0.6), s: () => zoom(1 / 0.6),
    "0": () => show({ from: -Infinity, to: Infinity }), Home: () => show({ from: 0, to: timeline.span * 1.02 }),
    n: () => along(1), p: () => along(-1), i: () => inwards(1), o: () => inwards(-1),
    l: () => chain?.far && go(chain.far.op ?? chain.far.transfers[0]), Escape: () => select(null),
  };
  const press_key = (event: KeyboardEvent) => {
    const run = keys[event.key];
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    run();
  };

  const whole = () => show({ from: -0.01 * timeline.span, to: 1.01 * timeline.span });
  const toRange = () => {
    const picked = chosenTime(timeline);
    if (picked) show(picked(layout.tracks[0]?.host ?? 0));
  };
  const { kept, of } = model.directory.timeline.events;
  return (
    <>
      <section class="card timeline" aria-label="Timeline">
        <header>
          <h2>Timeline</h2>
          <span class="soft" id="timeline-mode">
            {said}{all ? "" : `; ${count(kept)} of ${count(of)} single events are kept`}
            {means.mode === "levels" && (chosen.value.size > 0 || sizes.value.size > 0) ? "; sums are not filtered" : ""}
          </span>
        </header>
        <div class="toolbar no-print">
          <Choice<Drag["mode"]>
            label="Dragging" value={tool} onChange={(value) => setOption("timeline.tool", value)}
            options={[{ value: "pan", label: "Move" }, { value: "range", label: "Choose time", title: "or hold shift while dragging" }]}
          />
          <span class="buttons">
            <button type="button" class="button" onClick={() => zoom(0.5)} title="ctrl and wheel, or +">Zoom in</button>
            <button type="button" class="button" onClick={() => zoom(2)} title="ctrl and wheel, or −">Zoom out</button>
            <button type="button" class="button" onClick={whole}>Whole run</button>
            {range.value && <button type="button" class="button" onClick={toRange}>To chosen time</button>}
          </span>
          <Legend />
        </div>
        <div
          class="tracks" ref={scroller} onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
        >
          <div class="spacer" style={{ height: `${layout.height + AXIS}px` }}>
            <canvas
              ref={canvas} tabIndex={0} role="application" onKeyDown={press_key} onPointerMove={point} onPointerDown={press}
              onPointerUp={release} onPointerCancel={release} onPointerLeave={() => { setHover(null); hideTip(); }}
              onDblClick={() => hover !== null && go(hover)} class={tool === "range" ? "range" : ""}
              aria-label="Timeline. Left and right move, plus and minus zoom, 0 shows all. N and P go to the next and previous event, I and O in to and out of its layers, L to its other end, escape lets go."
            />
          </div>
        </div>
        <p class="note no-print">
          Ctrl and wheel zoom, dragging moves, shift and dragging chooses a time for all views. Keys: + − ← →, N and P next and
          previous event, I and O in and out of its layers, L its other end.
          {model.report.hosts.length > 1 ? " Hosts have clocks of their own, which are not compared: they lie side by side as their time of day says, arrows between hosts are dashed." : ""}
        </p>
      </section>
      {selected !== null && (
        <Details timeline={timeline} event={selected} chain={chainOf(timeline, selected)} go={go} close={() => select(null)} />
      )}
    </>
  );
}
