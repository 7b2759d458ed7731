// SPDX-License-Identifier: BSD-3-Clause
// Lanes, single events and their links, and the coarser levels, as the page carries them.
import { Held, readOpen, readWaits, Waits } from "./held";
import type { Model, Sort } from "./model";
import type { Codes } from "./section";

export const LAYERS = ["MPI", "UCP", "UCT", "device"];
export const LAYER_SORTS: Sort[] = ["calls", "ops", "transfers", "transfers"];
export const LAYER_NAMES = ["function", "ucp_op", "op", "op"]; // column with the name of the work
export const MPI = 0;
export const UCP = 1;
export const UCT = 2;
export const DEVICE = 3;
const MOST_ROWS = 4; // of what runs at once in one lane; more is drawn over the last one

export interface Lane {
  index: number;
  layer: number;
  process: number; // code, 0: a device
  host: number; // id
  transport: number;
  device: number;
  order: Uint32Array | null; // events of a device; else they are first to end
  first: number;
  end: number;
  row: Uint8Array; // of each event of the lane: which of those side by side it is in
  rows: number;
  reach: Float64Array; // latest end of all events up to here: finds events that overlap a time
}

export interface Level {
  bucket: number; // ns
  zero: Map<number, number>; // by host
  bounds: Codes; // by lane: first row; the next one's is the end
  columns: { bucket: Codes; started: Codes; busy: Codes; name: Codes; share: Codes; bytes: Codes; waited: Codes };
}

export interface Events {
  length: number;
  start: Float64Array;
  duration: Codes;
  precision: Codes;
  key: Codes;
  bytes: Codes;
  thread: Codes;
  parent: Codes;
  flags: Codes;
  count: Codes;
  lane: Uint32Array;
}

// The transfers of a host over one device, of all its processes, by start.
function deviceOrder(model: Model, lanes: Lane[], events: Events, lane: Lane): Uint32Array {
  const { transfers } = model.facts;
  const [transport, device] = [transfers.column("transport"), transfers.column("device")];
  const out: number[] = [];
  for (const other of lanes) {
    if (other.layer !== UCT || other.host !== lane.host) continue;
    for (let i = other.first; i < other.end; i++)
      if (transport[events.key[i]] === lane.transport && device[events.key[i]] === lane.device) out.push(i);
  }
  return Uint32Array.from(out).sort((a, b) => events.start[a] - events.start[b]);
}

// Hosts side by side as messages between them say, else as their clocks of the time of day, if all of them say it.
function begins(model: Model): Map<number, number> {
  const { hosts } = model.directory.time;
  const known = hosts.every((row) => typeof row.begin_ns === "number");
  return new Map(hosts.map((row) => [row.host, known ? row.begin_ns! : 0]));
}

// Each event goes into the first row that is free when it starts.
function pack(lane: Lane, events: Events) {
  const n = lane.order ? lane.order.length : lane.end - lane.first;
  const ends = new Float64Array(MOST_ROWS).fill(-1);
  lane.row = new Uint8Array(n);
  lane.reach = new Float64Array(n);
  let reach = -1;
  for (let i = 0; i < n; i++) {
    const event = lane.order ? lane.order[i] : lane.first + i;
    const start = events.start[event];
    const end = start + events.duration[event];
    let row = 0;
    while (row < MOST_ROWS - 1 && ends[row] > start) row++;
    ends[row] = Math.max(ends[row], end);
    lane.row[i] = row;
    lane.rows = Math.max(lane.rows, row + 1);
    lane.reach[i] = reach = Math.max(reach, end);
  }
}

// Ends of a message: events, null where they are not kept.
export interface Message {
  send: number | null;
  recv: number | null;
  arrival: number | null; // ns of the timeline
}

export class Timeline {
  readonly lanes: Lane[];
  readonly events: Events;
  readonly levels: Level[];
  readonly waits: Waits;
  readonly open: Held[];
  readonly span: number;
  readonly fitted: boolean; // hosts lie as their messages say
  private begins: Map<number, number>;
  readonly threads: Codes; // tid by code less 1
  private send: Codes;
  private recv: Codes;
  private arrivals: Codes;
  private bySend = new Map<number, number>();
  private byRecv = new Map<number, number>();
  private children: { first: Uint32Array; list: Uint32Array } | null = null;

  constructor(readonly model: Model) {
    const empty = new Uint8Array(0);
    const section = (name: string) => (model.find(name) ? model.section(name) : null);
    const lanes = section("lanes");
    const events = section("events");
    const links = section("links");
    const column = (name: string) => events?.column(name) ?? empty;
    this.threads = section("threads")?.column("tid") ?? empty;
    const key = column("key");
    this.events = {
      length: key.length, start: new Float64Array(key.length), lane: new Uint32Array(key.length), key,
      duration: column("duration"), precision: column("precision"), bytes: column("bytes"), thread: column("thread"),
      parent: column("parent"), flags: column("flags"), count: column("count"),
    };
    const bounds = (name: string) => lanes?.column(name) ?? empty;
    const layer = bounds("layer");
    const [process, host, transport, device] = ["process", "host", "transport", "device"].map(bounds);
    const [first, start] = [bounds("events"), bounds("start")];
    this.lanes = Array.from(layer, (value, i) => ({
      index: i, layer: value, process: process[i], host: host[i], transport: transport[i], device: device[i], order: null,
      first: value === DEVICE ? 0 : first[i],
      end: value === DEVICE ? 0 : i + 1 < layer.length ? first[i + 1] : key.length,
      row: new Uint8Array(0), rows: 1, reach: new Float64Array(0),
    }));
    this.begins = begins(model);
    this.fitted = new Set(model.directory.time.hosts.map((row) => row.reference)).size === 1;
    this.addStarts(column("delta"), start);
    for (const lane of this.lanes) {
      if (lane.layer === DEVICE) lane.order = deviceOrder(model, this.lanes, this.events, lane);
      pack(lane, this.events);
    }
    this.levels = this.readLevels(bounds);
    this.send = links?.column("send") ?? empty;
    this.recv = links?.column("recv") ?? empty;
    this.arrivals = links?.column("arrival") ?? empty;
    for (let i = 0; i < this.send.length; i++) {
      if (this.send[i]) this.bySend.set(this.send[i] - 1, i);
      if (this.recv[i]) this.byRecv.set(this.recv[i] - 1, i);
    }
    this.lanes.push(...this.silent());
    this.waits = readWaits(model, (host) => this.begin(host));
    this.open = readOpen(model, (host) => this.begin(host));
    this.span = Math.max(1, ...this.open.map(({ to }) => to), ...model.directory.time.hosts.map((row) => row.span_ns + this.begin(row.host)));
  }

  // Processes that made no event, and are in a call that has not returned, or behind: as where a tracer came late.
  private silent(): Lane[] {
    const { open, behind } = this.model.report;
    const seen = new Set(this.lanes.map((lane) => lane.process));
    const hung = [...(open ?? []).map((row) => row.process), ...(behind ?? []).flatMap((row) => row.members)];
    const codes = [...new Set(hung)].flatMap((id) => (id === null || seen.has(id + 1) ? [] : [id + 1]));
    return codes.map((process, i) => ({
      index: this.lanes.length + i, layer: MPI, process, host: this.model.hostOf(process) - 1, transport: 0, device: 0, order: null,
      first: this.events.length, end: this.events.length, row: new Uint8Array(0), rows: 1, reach: new Float64Array(0),
    }));
  }

  // Times of the timeline less this are the host's own, from its first event.
  begin(host: number): number {
    return this.begins.get(host) ?? 0;
  }

  private addStarts(delta: Codes, start: Codes) {
    for (const lane of this.lanes) {
      if (lane.layer === DEVICE) continue;
      let at = start[lane.index] + this.begin(lane.host);
      for (let i = lane.first; i < lane.end; i++) {
        if (i > lane.first) at += delta[i];
        this.events.start[i] = at;
        this.events.lane[i] = lane.index;
      }
    }
  }

  private readLevels(bounds: (name: string) => Codes): Level[] {
    const { timeline, time } = this.model.directory;
    return timeline.levels.map(({ bucket_ns }, i) => {
      const section = this.model.section(`level${i}`);
      const column = (name: string) => section.column(name);
      return {
        bucket: bucket_ns, zero: new Map(time.hosts.map(({ host, level_zero_ns }) => [host, (level_zero_ns[i] ?? 0) + this.begin(host)])),
        bounds: bounds(`level${i}`),
        columns: {
          bucket: column("bucket"), started: column("started"), busy: column("busy"), name: column("name"),
          share: column("share"), bytes: column("bytes"), waited: column("waited"),
        },
      };
    });
  }

  count(lane: Lane): number {
    return lane.order ? lane.order.length : lane.end - lane.first;
  }

  event(lane: Lane, position: number): number {
    return lane.order ? lane.order[position] : lane.first + position;
  }

  // Where in a lane an event is, -1 if it is not in it.
  positionIn(lane: Lane, event: number): number {
    const { order } = lane;
    if (!order) return event >= lane.first && event < lane.end ? event - lane.first : -1;
    const { start } = this.events;
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (start[order[middle]] < start[event]) low = middle + 1;
      else high = middle;
    }
    for (; low < order.length && start[order[low]] === start[event]; low++) if (order[low] === event) return low;
    return -1;
  }

  // Positions in a lane of events that overlap the time from `from` until `to`.
  within(lane: Lane, from: number, to: number): [number, number] {
    const n = this.count(lane);
    let [low, high] = [0, n];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.reach[middle] < from) low = middle + 1;
      else high = middle;
    }
    const first = low;
    high = n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.events.start[this.event(lane, middle)] <= to) low = middle + 1;
      else high = middle;
    }
    return [first, low];
  }

  // The first row of a level at or after a bucket, among a lane's.
  levelRow(level: Level, lane: Lane, bucket: number): number {
    let low = level.bounds[lane.index] ?? level.columns.bucket.length;
    let high = this.levelEnd(level, lane);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (level.columns.bucket[middle] < bucket) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  levelEnd(level: Level, lane: Lane): number {
    return lane.index + 1 < level.bounds.length ? level.bounds[lane.index + 1] : level.columns.bucket.length;
  }

  parentOf(event: number): number | null {
    return this.events.parent[event] ? this.events.parent[event] - 1 : null;
  }

  childrenOf(event: number): number[] {
    this.children ??= this.invert();
    const { first, list } = this.children;
    return Array.from(list.subarray(first[event], first[event + 1]));
  }

  private invert() {
    const { parent, length } = this.events;
    const first = new Uint32Array(length + 1);
    for (let i = 0; i < length; i++) if (parent[i]) first[parent[i]]++;
    for (let i = 0; i < length; i++) first[i + 1] += first[i];
    const at = first.slice();
    const list = new Uint32Array(first[length]);
    for (let i = 0; i < length; i++) if (parent[i]) list[at[parent[i] - 1]++] = i;
    return { first, list };
  }

  private beginOf(event: number): number {
    return this.begin(this.lanes[this.events.lane[event]].host);
  }

  get links(): number {
    return this.send.length;
  }

  // The message that an operation sent or received.
  message(op: number): Message | null {
    const link = this.bySend.get(op) ?? this.byRecv.get(op);
    return link === undefined ? null : this.link(link);
  }

  link(link: number): Message {
    return {
      send: this.send[link] ? this.send[link] - 1 : null, recv: this.recv[link] ? this.recv[link] - 1 : null,
      arrival: this.arrivals[link] && this.recv[link] ? this.arrivals[link] - 1 + this.beginOf(this.recv[link] - 1) : null,
    };
  }
}
