// SPDX-License-Identifier: BSD-3-Clause
// Where the tracks of the timeline lie: per host its processes, each with its lanes, then its devices.
import type { Model } from "../../data/model";
import { time } from "../../ui/format";
import { DEVICE, Lane, LAYERS, MPI, Timeline } from "../../data/timeline";

export interface PlacedLane {
  lane: Lane;
  y: number;
  height: number;
  label: string;
}

export interface Track {
  host: number;
  title: string;
  detail: string;
  heading: boolean; // a host's name, no lanes
  y: number;
  height: number;
  lanes: PlacedLane[];
}

export interface Layout {
  tracks: Track[];
  height: number;
  byLane: Map<number, PlacedLane>;
}

const HEADING = 24;
const MANY = 24; // processes; with more the tracks are low
const HEIGHTS = { tall: [15, 20, 24, 28], low: [6, 8, 9, 10], mpi: [20, 26, 30, 34] }; // by rows side by side

export interface Wish {
  process: (code: number) => boolean;
  host: (id: number) => boolean;
  device: (transport: number, device: number) => boolean;
}

function place(lanes: Lane[], y: number, heights: number[], label: (lane: Lane) => string): PlacedLane[] {
  return lanes.map((lane) => {
    const height = (lane.layer === MPI && heights === HEIGHTS.tall ? HEIGHTS.mpi : heights)[lane.rows - 1];
    const placed = { lane, y, height, label: label(lane) };
    y += height + 2;
    return placed;
  });
}

function began(timeline: Timeline, host: number): string {
  const begin = timeline.begin(host);
  return begin ? `begins ${time(begin)} after the first host, as their times of day say` : "";
}

function byRank(model: Model) {
  return (a: number, b: number) =>
    (model.process(a)?.rank ?? 1e9) - (model.process(b)?.rank ?? 1e9) || a - b;
}

// Independent of filters: the processes of each host by rank, the lanes of each process, and of each host's devices.
interface Order {
  processes: Map<number, number[]>; // codes, by host
  lanes: Map<number, Lane[]>; // by process
  devices: Map<number, Lane[]>; // by host
}

function into<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

const orders = new WeakMap<Timeline, Order>();

function orderOf(model: Model, timeline: Timeline): Order {
  let order = orders.get(timeline);
  if (order) return order;
  order = { processes: new Map(), lanes: new Map(), devices: new Map() };
  for (const lane of timeline.lanes)
    if (lane.layer === DEVICE) into(order.devices, lane.host, lane);
    else into(order.lanes, lane.process, lane);
  for (const code of [...order.lanes.keys()].sort(byRank(model))) into(order.processes, model.process(code)?.host ?? -1, code);
  orders.set(timeline, order);
  return order;
}

export function layoutTracks(model: Model, timeline: Timeline, wish: Wish): Layout {
  const tracks: Track[] = [];
  const order = orderOf(model, timeline);
  const shown = new Map([...order.processes].map(([host, codes]) => [host, codes.filter(wish.process)]));
  const many = [...shown.values()].reduce((sum, codes) => sum + codes.length, 0) > MANY;
  const heights = many ? HEIGHTS.low : HEIGHTS.tall;
  let y = 0;
  const add = (track: Omit<Track, "y" | "height">, lanes: Lane[], label: (lane: Lane) => string) => {
    const placed = place(lanes, y + 4, heights, label);
    const height = track.heading ? HEADING : placed.reduce((sum, lane) => sum + lane.height + 2, 0) + 7;
    tracks.push({ ...track, y, height, lanes: placed });
    y += height;
  };
  for (const host of model.hosts) {
    if (!wish.host(host.id)) continue;
    const processes = shown.get(host.id) ?? [];
    const devices = (order.devices.get(host.id) ?? []).filter((lane) => wish.device(lane.transport, lane.device));
    const name = model.hostLabels[host.id + 1];
    if (!processes.length && !devices.length) continue;
    add({ host: host.id, title: name, detail: began(timeline, host.id), heading: true, lanes: [] }, [], String);
    for (const code of processes) {
      const process = model.process(code)!;
      const title = process.rank === null ? process.comm : `rank ${model.labels[code]}`;
      const detail = process.rank === null ? `pid ${process.pid}` : `${process.comm} ${process.pid}`;
      add({ host: host.id, title, detail, heading: false, lanes: [] }, order.lanes.get(code)!, (lane) => LAYERS[lane.layer]);
    }
    for (const lane of devices) {
      const [transport, device] = [lane.transport, lane.device].map((code) => model.names[code] ?? "unknown");
      add({ host: host.id, title: device, detail: transport, heading: false, lanes: [] }, [lane], () => "");
    }
  }
  const byLane = new Map(tracks.flatMap((track) => track.lanes).map((placed) => [placed.lane.index, placed]));
  return { tracks, height: y, byLane };
}
