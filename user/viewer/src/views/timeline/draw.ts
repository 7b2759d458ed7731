// SPDX-License-Identifier: BSD-3-Clause
// Drawing the timeline. Single events where they are kept and few enough to be told apart, else the
// level whose steps are about a pixel wide.
import { DEVICE, Lane, LAYER_SORTS, Level, Timeline } from "../../data/timeline";
import type { Sort } from "../../data/model";
import { clip } from "../../ui/canvas";
import { actionColour, inkOn, styleColour, transportColour } from "../../ui/colours";
import { instant, roundStep } from "../../ui/format";
import { GUTTER, Layout, PlacedLane, Track } from "./layout";

export interface Look {
  from: number; // ns
  to: number;
  width: number; // px, all of the canvas
  height: number;
  scroll: number; // px
}

export interface Scene {
  timeline: Timeline;
  layout: Layout;
  look: Look;
  fails: (sort: Sort) => Uint8Array; // by key: 0 passes the filters
  sizes: ReadonlySet<number>;
  chosen: ((host: number) => { from: number; to: number }) | null; // time range in ns
  chain: Set<number>; // events to stand out
  arrow: { send: number; recv: number; arrival: number | null } | null;
}

export interface Means {
  mode: "events" | "levels" | "both";
  level: Level | null;
}

export const AXIS = 24;
const MOST_EVENTS = 60_000; // drawn at once
const DIM = 0.16;

export function xOf(look: Look, ns: number): number {
  return GUTTER + ((ns - look.from) / (look.to - look.from)) * (look.width - GUTTER);
}

export function nsOf(look: Look, x: number): number {
  return look.from + ((x - GUTTER) / (look.width - GUTTER)) * (look.to - look.from);
}

export class Painter {
  private transports: Set<number>;
  private colours = new Map<string, string[]>();

  constructor(readonly timeline: Timeline) {
    this.transports = new Set(timeline.model.facts.transfers.column("transport"));
  }

  // By key; made anew for each theme.
  private keyColours(layer: number, theme: string): string[] {
    const id = `${layer}${theme}`;
    let out = this.colours.get(id);
    if (!out) {
      const facts = this.timeline.model.facts[LAYER_SORTS[layer]];
      const codes = facts.column(layer === 0 ? "function" : layer === 1 ? "ucp_op" : "transport");
      this.colours.set(id, (out = Array.from(codes, (code) => this.nameColour(layer, code))));
    }
    return out;
  }

  nameColour(layer: number, code: number): string {
    const name = this.timeline.model.names[code];
    return layer >= 2 ? transportColour(name) : actionColour(name);
  }

  // Of an event; a level of a UCT lane says its transport, where it says that.
  levelColour(lane: Lane, code: number): string {
    if (lane.layer === DEVICE) return transportColour(this.timeline.model.names[lane.transport]);
    if (lane.layer === 2 && !this.transports.has(code)) return styleColour("faint");
    return this.nameColour(lane.layer, code);
  }

  private visible({ scroll, height }: Look, layout: Layout): Track[] {
    return layout.tracks.filter((t) => t.y + t.height > scroll && t.y < scroll + height - AXIS);
  }

  private eventsInSight(look: Look, layout: Layout): number {
    let n = 0;
    for (const track of this.visible(look, layout))
      for (const { lane } of track.lanes) {
        const [first, end] = this.timeline.within(lane, look.from, look.to);
        n += end - first;
      }
    return n;
  }

  // The level to draw where single events are not, or not all of them, kept or told apart.
  levelFor(look: Look): Level | null {
    const { levels } = this.timeline;
    const pixel = (look.to - look.from) / Math.max(1, look.width - GUTTER);
    let best: Level | null = levels[0] ?? null;
    for (const level of levels) if (level.bucket <= pixel * 1.5) best = level;
    return best;
  }

  // How a part of the run can be shown.
  means(look: Look, layout: Layout): Means {
    const { events } = this.timeline.model.directory.timeline;
    const single = this.eventsInSight(look, layout) <= MOST_EVENTS;
    const complete = single && events.kept === events.of;
    const level = complete ? null : this.levelFor(look);
    return { mode: !level ? "events" : single && events.kept ? "both" : "levels", level };
  }

  // The tracks; they stay while another time is chosen, or another event.
  drawTracks(context: CanvasRenderingContext2D, scene: Scene, means: Means) {
    const { look } = scene;
    context.clearRect(0, 0, look.width, look.height);
    within(context, look, () => {
      for (const track of this.visible(look, scene.layout)) this.track(context, scene, track, means);
    });
    axis(context, look);
  }

  // What lies over them.
  drawMarks(context: CanvasRenderingContext2D, scene: Scene) {
    within(context, scene.look, () => {
      if (scene.chosen)
        for (const track of this.visible(scene.look, scene.layout)) if (!track.heading) this.outside(context, scene, track);
      for (const event of scene.chain) this.outline(context, scene, event);
      if (scene.arrow) this.arrow(context, scene);
    });
  }

  private track(context: CanvasRenderingContext2D, scene: Scene, track: Track, { mode, level }: Means) {
    const { look } = scene;
    if (track.heading) return heading(context, look, track);
    context.fillStyle = styleColour("line");
    context.fillRect(0, track.y + track.height - 1, look.width, 1);
    for (const placed of track.lanes) {
      context.fillStyle = styleColour("gap");
      context.fillRect(GUTTER, placed.y, look.width - GUTTER, placed.height);
      if (!level) {
        this.events(context, scene, placed, look.from, look.to);
        continue;
      }
      const windows = mode === "both" ? this.windows(track.host, look) : [];
      let at = look.from;
      for (const [from, to] of [...windows, [look.to, look.to] as [number, number]]) {
        if (from > at) this.level(context, scene, placed, level, at, from);
        if (to > from) this.events(context, scene, placed, from, to);
        at = Math.max(at, to);
      }
    }
    gutter(context, track);
  }

  // Times in sight in which every event is kept.
  private windows(host: number, look: Look): [number, number][] {
    const { windows } = this.timeline.model.directory.timeline.events;
    const begin = this.timeline.begin(host);
    return windows
      .filter((w) => w.host === host && w.to_ns + begin > look.from && w.from_ns + begin < look.to)
      .map((w): [number, number] => [Math.max(look.from, w.from_ns + begin), Math.min(look.to, w.to_ns + begin)])
      .sort((a, b) => a[0] - b[0]);
  }

  private level(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, level: Level, from: number, to: number) {
    const { look } = scene;
    const { lane, y, height } = placed;
    const zero = level.zero.get(lane.host) ?? 0;
    const end = this.timeline.levelEnd(level, lane);
    const { bucket, busy, name, started } = level.columns;
    const width = Math.max(1, (level.bucket / (look.to - look.from)) * (look.width - GUTTER));
    const first = this.timeline.levelRow(level, lane, Math.floor((from - zero) / level.bucket));
    const strokes = new Strokes(context, y, height);
    for (let i = first; i < end; i++) {
      const start = zero + bucket[i] * level.bucket;
      if (start >= to) break;
      const x = Math.floor(Math.max(GUTTER, xOf(look, Math.max(start, from))));
      const until = Math.max(x + 1, Math.round(Math.min(xOf(look, Math.min(to, start + level.bucket)), x + width)));
      const part = Math.min(1, busy[i] / level.bucket);
      const tall = busy[i] ? Math.max(2, Math.round(part * height)) : started[i] ? 1 : 0;
      strokes.add(x, until, tall, this.levelColour(lane, name[i]));
    }
    strokes.flush();
  }

  private events(context: CanvasRenderingContext2D, scene: Scene, placed: PlacedLane, from: number, to: number) {
    const { look, sizes } = scene;
    const { events } = this.timeline;
    const { lane, y, height } = placed;
    const colours = this.keyColours(lane.layer, styleColour("paper"));
    const fails = scene.fails(LAYER_SORTS[lane.layer]);
    const control = lane.layer >= 2 ? this.timeline.model.facts.transfers.column("kind") : null;
    const [first, end] = this.timeline.within(lane, from, to);
    const tall = height / lane.rows;
    const bar = Math.max(1, tall - (lane.rows > 1 ? 1 : 0));
    const drawn = new Float64Array(lane.rows).fill(-1); // px up to where each row is full
    const scale = (look.width - GUTTER) / (look.to - look.from);
    const [left, right] = [xOf(look, from), xOf(look, to)];
    for (let i = first; i < end; i++) {
      const event = this.timeline.event(lane, i);
      const start = GUTTER + (events.start[event] - look.from) * scale;
      const stop = start + Math.max(1, events.duration[event] * scale);
      const row = lane.row[i];
      if (stop <= drawn[row] || stop < left) continue;
      const passes = !fails[events.key[event]] && (!sizes.size || sizes.has(sizeOf(events.bytes[event])));
      const x = Math.max(left, start, passes ? drawn[row] : -1);
      const low = control?.[events.key[event]] ? 0.45 : 1;
      context.globalAlpha = passes ? 1 : DIM;
      context.fillStyle = colours[events.key[event]];
      context.fillRect(x, y + row * tall + bar * (1 - low), Math.min(right, stop) - x - (stop - start > 4 ? 0.5 : 0), bar * low);
      if (passes) drawn[row] = Math.ceil(stop * 2) / 2;
      if (bar >= 11 && low === 1 && stop - x > 36) this.label(context, lane, event, x, Math.min(right, stop), y + row * tall + bar / 2);
    }
    context.globalAlpha = 1;
  }

  private label(context: CanvasRenderingContext2D, lane: Lane, event: number, x: number, end: number, y: number) {
    const { model, events } = this.timeline;
    const facts = model.facts[LAYER_SORTS[lane.layer]];
    const code = facts.column(lane.layer === 0 ? "function" : lane.layer === 1 ? "ucp_op" : "op")[events.key[event]];
    context.font = "10px system-ui, sans-serif";
    context.textAlign = "left";
    context.textBaseline = "middle";
    const text = clip(context, (model.names[code] ?? "").replace(/^MPI_/, ""), Math.min(end, 1e5) - x - 8);
    if (text.length < 3) return;
    context.fillStyle = inkOn(context.fillStyle as string); // the bar's
    context.fillText(text, x + 4, y + 0.5);
  }

  // In its own lane, and in that of its device.
  private outline(context: CanvasRenderingContext2D, scene: Scene, event: number) {
    for (const track of this.visible(scene.look, scene.layout))
      for (const placed of track.lanes) {
        const position = this.timeline.positionIn(placed.lane, event);
        if (position >= 0) this.frame(context, scene.look, placed, event, position);
      }
  }

  private frame(context: CanvasRenderingContext2D, look: Look, placed: PlacedLane, event: number, position: number) {
    const { events } = this.timeline;
    const { lane, y, height } = placed;
    const tall = height / lane.rows;
    const x = xOf(look, events.start[event]);
    const width = Math.max(2, xOf(look, events.start[event] + events.duration[event]) - x);
    if (x + width < GUTTER || x > look.width) return;
    const left = Math.max(GUTTER - 2, x - 1);
    context.strokeStyle = styleColour("select");
    context.lineWidth = 1.5;
    context.strokeRect(left, y + lane.row[position] * tall - 1, x + width + 1 - left, tall + 1);
  }

  // Greys out what a chosen time leaves out.
  private outside(context: CanvasRenderingContext2D, scene: Scene, { host, y, height }: Track) {
    const { look } = scene;
    const chosen = scene.chosen?.(host);
    if (!chosen) return;
    context.fillStyle = styleColour("paper");
    context.globalAlpha = 0.62;
    const left = Math.min(look.width, Math.max(GUTTER, xOf(look, chosen.from)));
    const right = Math.min(look.width, Math.max(GUTTER, xOf(look, chosen.to)));
    context.fillRect(GUTTER, y, left - GUTTER, height - 1);
    context.fillRect(right, y, look.width - right, height - 1);
    context.globalAlpha = 1;
    context.fillStyle = styleColour("accent");
    if (left > GUTTER) context.fillRect(left - 1, y, 1, height);
    if (right < look.width) context.fillRect(right, y, 1, height);
  }

  private middle(scene: Scene, event: number): number | null {
    const placed = scene.layout.byLane.get(this.timeline.events.lane[event]);
    if (!placed) return null;
    const tall = placed.height / placed.lane.rows;
    return placed.y + (placed.lane.row[event - placed.lane.first] + 0.5) * tall;
  }

  // From the operation that sent to the one that received; dashed between clocks that are not compared.
  private arrow(context: CanvasRenderingContext2D, scene: Scene) {
    const { look, arrow } = scene;
    const { events, lanes } = this.timeline;
    const { send, recv, arrival } = arrow!;
    const [y1, y2] = [this.middle(scene, send), this.middle(scene, recv)];
    if (y1 === null || y2 === null) return;
    const x1 = xOf(look, events.start[send]);
    const x2 = xOf(look, arrival ?? events.start[recv] + events.duration[recv]);
    const bend = Math.max(24, Math.abs(x2 - x1) / 3);
    context.save();
    context.beginPath();
    context.rect(GUTTER, look.scroll, look.width - GUTTER, look.height);
    context.clip();
    context.strokeStyle = context.fillStyle = styleColour("bad");
    context.lineWidth = 1.6;
    if (lanes[events.lane[send]].host !== lanes[events.lane[recv]].host) context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(x1, y1);
    context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - 8, y2 - 4);
    context.lineTo(x2 - 8, y2 + 4);
    context.fill();
    context.beginPath();
    context.arc(x1, y1, 2.5, 0, 7);
    context.fill();
    context.restore();
  }
}

function within(context: CanvasRenderingContext2D, look: Look, draw: () => void) {
  context.save();
  context.beginPath();
  context.rect(0, AXIS, look.width, look.height - AXIS);
  context.clip();
  context.translate(0, AXIS - look.scroll);
  draw();
  context.restore();
}

// Bars side by side become one where they are alike; of several in one column of pixels the tallest is drawn.
class Strokes {
  private x = 0;
  private until = -1;
  private tall = 0;
  private colour = "";

  constructor(private context: CanvasRenderingContext2D, private y: number, private height: number) {}

  add(x: number, until: number, tall: number, colour: string) {
    if (until <= this.until && tall <= this.tall) return;
    if (x <= this.until && tall === this.tall && colour === this.colour) {
      this.until = Math.max(until, this.until);
      return;
    }
    this.flush();
    [this.x, this.until, this.tall, this.colour] = [x, until, tall, colour];
  }

  flush() {
    if (this.until <= this.x || !this.tall) return;
    this.context.fillStyle = this.colour;
    this.context.fillRect(this.x, this.y + this.height - this.tall, this.until - this.x, this.tall);
  }
}

// Class of a payload as the cube has it; the column is bytes + 1, 0 unknown.
function sizeOf(stored: number): number {
  if (stored <= 1) return stored;
  return Math.floor(Math.log2(stored - 1)) + 2;
}

function heading(context: CanvasRenderingContext2D, look: Look, track: Track) {
  context.fillStyle = styleColour("ground");
  context.fillRect(0, track.y, look.width, track.height - 1);
  context.fillStyle = styleColour("line");
  context.fillRect(0, track.y + track.height - 1, look.width, 1);
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = styleColour("ink");
  context.font = "650 12px system-ui, sans-serif";
  const name = clip(context, track.title, look.width / 2);
  context.fillText(name, 10, track.y + track.height / 2);
  const at = 22 + context.measureText(name).width;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = styleColour("faint");
  context.fillText(track.detail, at, track.y + track.height / 2);
}

function gutter(context: CanvasRenderingContext2D, track: Track) {
  const low = track.height < 40;
  context.clearRect(0, track.y, GUTTER, track.height - 1);
  context.textBaseline = "middle";
  context.textAlign = "left";
  context.fillStyle = styleColour("ink");
  context.font = "600 12px system-ui, sans-serif";
  const room = GUTTER - 56;
  const middle = track.y + (track.height - 1) / 2;
  const title = clip(context, track.title, room);
  context.fillText(title, 10, low ? middle : middle - 8);
  const used = context.measureText(title).width;
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = styleColour("faint");
  if (low && room - used > 24) context.fillText(clip(context, track.detail, room + 40 - used), 18 + used, middle);
  if (!low) context.fillText(clip(context, track.detail, room), 10, middle + 8);
  context.textAlign = "right";
  context.font = "10px system-ui, sans-serif";
  for (const lane of track.lanes) if (lane.height >= 12) context.fillText(lane.label, GUTTER - 8, lane.y + lane.height / 2 + 0.5);
}

function axis(context: CanvasRenderingContext2D, look: Look) {
  const span = look.to - look.from;
  const step = roundStep((span / (look.width - GUTTER)) * 110);
  context.fillStyle = styleColour("paper");
  context.fillRect(0, 0, look.width, AXIS);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let at = Math.ceil(look.from / step) * step; at <= look.to; at += step) {
    const x = Math.round(xOf(look, at));
    context.fillStyle = styleColour("line-strong");
    context.fillRect(x, AXIS - 6, 1, 6);
    context.globalAlpha = 0.35;
    context.fillStyle = styleColour("line-strong");
    context.fillRect(x, AXIS, 1, look.height - AXIS);
    context.globalAlpha = 1;
    context.fillStyle = styleColour("soft");
    context.fillText(instant(at, step), x + 4, AXIS / 2 - 1);
  }
  context.fillStyle = styleColour("line-strong");
  context.fillRect(0, AXIS - 1, look.width, 1);
}
