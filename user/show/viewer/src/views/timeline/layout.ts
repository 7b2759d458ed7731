// SPDX-License-Identifier: BSD-3-Clause
// Where the tracks of the timeline lie: per host its processes, each with its lanes, then its devices; or a row of pixels for
// each process.
import type { Model } from "../../data/model";
import { plural, time } from "../../ui/format";
import { DEVICE, Lane, LAYERS, MPI, Timeline } from "../../data/timeline";
import { Arrangement, orderBy, Sort } from "./arrange";

export interface PlacedLane {
  lane: Lane;
  y: number;
  height: number;
  rows: number; // side by side; 1 where there is no room for more
  label: string;
}

export interface Track {
  host: number;
  process: number; // code; 0: none, or several
  title: string;
  detail: string;
  heading: boolean; // a host's name, no lanes
  pixels: boolean; // rows of several processes, without names
  folded: boolean | null; // null: it cannot be folded
  y: number;
  height: number;
  lanes: PlacedLane[];
  counted: Lane[]; // all of its processes, whether shown or not
}

export interface Layout {
  tracks: Track[];
  height: number;
  byLane: Map<number, PlacedLane>;
  pixels: boolean; // all of it
}

const HEADING = 24;
const MANY = 24; // processes; with more the tracks are low
const CROWD = 128; // processes; with more each is a row of pixels
const HEIGHTS = { tall: [15, 20, 24, 28], low: [6, 8, 9, 10], mpi: [20, 26, 30, 34] }; // by rows side by side

export interface Wish {
  process: (code: number) => boolean;
  host: (id: number) => boolean;
  device: (transport: number, device: number) => boolean;
}

// Pixels of a process's row.
function rowHeight(processes: number): number {
  return processes > 512 ? 1 : processes > 256 ? 2 : processes > 128 ? 3 : 6;
}

function began(timeline: Timeline, host: number): string {
  const begin = timeline.begin(host);
  const within = timeline.model.directory.time.hosts.find((row) => row.host === host)?.uncertainty_ns ?? 0;
  const how = timeline.fitted ? (within ? ` ± ${time(within)}` : "") : ", as their times of day say";
  return begin || within ? `begins ${time(begin)}${timeline.fitted ? how : ""} after the first host${timeline.fitted ? "" : how}` : "";
}

// Independent of filters: the processes of each host, the lanes of each process, and of each host's devices.
interface Order {
  processes: Map<Sort, number[]>; // codes
  lanes: Map<number, Lane[]>; // by process
  devices: Map<number, Lane[]>; // by host
}

function into<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

const orders = new WeakMap<Timeline, Order>();

function orderOf(timeline: Timeline): Order {
  let order = orders.get(timeline);
  if (order) return order;
  order = { processes: new Map(), lanes: new Map(), devices: new Map() };
  for (const lane of timeline.lanes)
    if (lane.layer === DEVICE) into(order.devices, lane.host, lane);
    else into(order.lanes, lane.process, lane);
  orders.set(timeline, order);
  return order;
}

function sorted(model: Model, { lanes, processes }: Order, by: Sort): number[] {
  let codes = processes.get(by);
  if (!codes) processes.set(by, (codes = [...lanes.keys()].sort(orderBy(model, by))));
  return codes;
}

class Placing {
  readonly tracks: Track[] = [];
  y = 0;

  constructor(private heights: number[]) {}

  private push(track: Partial<Track> & Pick<Track, "host" | "title">, height: number) {
    this.tracks.push({
      process: 0, detail: "", heading: false, pixels: false, folded: null, lanes: [], counted: [], ...track, y: this.y, height,
    });
    this.y += height;
  }

  heading(host: number, title: string, detail: string, folded: boolean | null, counted: Lane[]) {
    this.push({ host, title, detail, heading: true, folded, counted }, HEADING);
  }

  lanes(track: Partial<Track> & Pick<Track, "host" | "title">, lanes: Lane[], label: (lane: Lane) => string) {
    let y = this.y + 4;
    const placed = lanes.map((lane) => {
      const height = (lane.layer === MPI && this.heights === HEIGHTS.tall ? HEIGHTS.mpi : this.heights)[lane.rows - 1];
      const at = { lane, y, height, rows: lane.rows, label: label(lane) };
      y += height + 2;
      return at;
    });
    this.push({ counted: lanes, ...track, lanes: placed }, y - this.y + 3);
  }

  // A row each, of the calls where there are some.
  pixels(host: number, title: string, processes: Lane[][], tall: number) {
    const lanes = processes.map(([first], i) => ({ lane: first, y: this.y + i * tall, height: tall, rows: 1, label: "" }));
    this.push({ host, title, detail: plural(processes.length, "process", "processes"), pixels: true, lanes, counted: lanes.map(({ lane }) => lane) }, lanes.length * tall + 2);
  }
}

export function layoutTracks(model: Model, timeline: Timeline, wish: Wish, how: Arrangement): Layout {
  const order = orderOf(timeline);
  const hostOf = (code: number) => model.process(code)?.host ?? -1;
  const shown = sorted(model, order, how.sort).filter((code) => wish.process(code) && wish.host(hostOf(code)));
  const byHost = new Map<number, number[]>();
  for (const code of shown) into(byHost, hostOf(code), code);
  const pixels = how.rows === "pixels" || (how.rows === "auto" && shown.length > CROWD);
  const placing = new Placing(shown.length > MANY ? HEIGHTS.low : HEIGHTS.tall);
  const tall = rowHeight(shown.length);
  const lanesOf = (codes: number[]) => codes.map((code) => order.lanes.get(code)!);
  const one = (code: number) => {
    const process = model.process(code)!;
    const title = process.rank === null ? process.comm : `rank ${model.labels[code]}`;
    const detail = how.group === "none" ? model.hostLabels[process.host + 1] : process.rank === null ? `pid ${process.pid}` : `${process.comm} ${process.pid}`;
    const folded = how.folded.has(`p${code}`) !== (how.rows === "calls");
    const lanes = order.lanes.get(code)!;
    placing.lanes({ host: process.host, process: code, title, detail, folded, counted: lanes }, folded ? lanes.slice(0, 1) : lanes, (lane) => LAYERS[lane.layer]);
  };
  if (how.group === "none") {
    if (pixels) placing.pixels(model.hosts[0]?.id ?? 0, "all processes", lanesOf(shown), tall);
    else shown.forEach(one);
  }
  for (const host of model.hosts) {
    if (!wish.host(host.id)) continue;
    const own = (how.group === "host" && byHost.get(host.id)) || [];
    const devices = (order.devices.get(host.id) ?? []).filter((lane) => wish.device(lane.transport, lane.device));
    const name = model.hostLabels[host.id + 1];
    const folded = how.folded.has(`h${host.id}`);
    if (own.length && pixels) placing.pixels(host.id, name, lanesOf(own), tall);
    if (pixels || how.group === "none" || (!own.length && !devices.length)) continue;
    placing.heading(host.id, name, [plural(own.length, "process", "processes"), began(timeline, host.id)].filter(Boolean).join(", "), folded, []);
    if (folded && own.length) placing.pixels(host.id, "", lanesOf(own), Math.max(2, tall));
    if (folded) continue;
    own.forEach(one);
    for (const lane of devices) {
      const [transport, device] = [lane.transport, lane.device].map((code) => model.names[code] ?? "unknown");
      placing.lanes({ host: host.id, title: device, detail: transport }, [lane], () => "");
    }
  }
  const byLane = new Map(placing.tracks.flatMap((track) => track.lanes).map((placed) => [placed.lane.index, placed]));
  return { tracks: placing.tracks, height: placing.y, byLane, pixels };
}

// Where a process is: its track, or its row of pixels; null: it has none.
export function placeOf({ tracks }: Layout, process: number): { y: number; height: number } | null {
  for (const track of tracks) {
    const own = track.process === process ? track : track.lanes.find(({ lane }) => lane.process === process);
    if (own) return own;
  }
  return null;
}
