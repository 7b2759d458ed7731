// SPDX-License-Identifier: BSD-3-Clause
// The shapes of docs/viewer-data.md's directory and of docs/report.md's report, as far as they are used.
import type { SectionInfo } from "./section";

export interface HostTime {
  host: number;
  span_ns: number;
  begin_ns?: number | null;
  reference: number; // host whose clock that is by
  uncertainty_ns: number; // of their offset
  zero_ns: number;
  level_zero_ns: number[];
}

export interface Directory {
  schema: string;
  rounded: number;
  sections: SectionInfo[];
  report: { left_out: string[] };
  time: { bucket_ns: number; buckets: number; hosts: HostTime[] };
  cube: { cells: number; keys: number; merged: string[] };
  timeline: {
    levels: { bucket_ns: number }[];
    untimed: number;
    events: { kept: number; of: number; windows: { host: number; from_ns: number; to_ns: number }[] };
  };
}

export interface Host {
  id: number;
  name: string;
  boot_id: string;
  span_ns: number;
}

export interface Process {
  id: number;
  host: number;
  pid: number;
  tgid: number;
  comm: string;
  exe: string;
  job: string | null;
  rank: number | null;
  size: number | null;
  mpi: string | null;
  ucx: { path: string; build_id: string; version: string; layout: string }[];
  environment?: { name: string; value: string }[] | null;
  environment_cut?: number | null;
  cpus?: string | null;
  seen_from: string;
}

export interface Device {
  host: number;
  name: string;
  model: string | null;
  processes?: { process: number }[];
}

interface Remote {
  count: number;
  bytes: number;
  bytes_unknown: number;
  wire_bytes: number;
}

export interface Nic extends Remote {
  host: number;
  device: string;
  direction: string;
}

export interface Route extends Remote {
  src_host: number | null;
  src_mem: string;
  src_nic: string;
  dst_nic: string;
  dst_mem: string;
  dst_host: number | null;
}

export interface Clock {
  host: number;
  other: number;
  there: number;
  back: number;
  at_ns: number | null;
  offset_ns: number | null;
  offset_uncertainty_ns: number | null;
  drift_ppb: number | null;
  drift_uncertainty_ppb: number | null;
  reason: string | null;
}

export interface Slow {
  process: number;
  peer: number | null;
  op: string;
  transport: string;
  device: string;
  ucp_op: string | null;
  function: string | null;
  bytes: number | null;
  time_ns: number;
  precision: string;
  at_ns: number;
}

// How long the transfers of a path took, of those whose time is exact.
export interface PathTimes {
  transport: string;
  device: string;
  op: string;
  protocol: string;
  locality: string;
  kind: string;
  src_mem?: string;
  dst_mem?: string;
  exact: number;
  exact_median_ns: number;
  exact_p99_ns: number;
}

// Likewise of an MPI function; null: of no call.
export interface FunctionDurations {
  function: string;
  exact: number;
  exact_median_ns: number | null;
  exact_p99_ns: number | null;
}

// A call that had not returned when its process was last seen.
export interface Open {
  process: number | null;
  rank: number | null;
  function: string;
  call_site: string | null;
  op: string | null;
  peer: number | null;
  peer_rank: number | null;
  peer_certain?: boolean;
  tag: number | null;
  since_ns: number;
  age_ns: number;
  bound: boolean; // it began before since_ns, when it was seen first
  certain: boolean;
}

// Who is behind in a hang: one process or rank, or several that wait for each other.
export interface Behind {
  members: number[]; // processes; none: the rank is not traced
  ranks: (number | null)[];
  certain: boolean;
  waiting: number; // processes that wait for these
  not_entered: string | null;
  not_entered_sequence: number | null;
  entered: number | null;
  apart: number[];
  state: string | null;
  function: string | null;
  call_site: string | null;
  outside: boolean | null;
  reason: string | null;
}

export interface ProcessTime {
  process: number;
  rank: number | null;
  span_ns: number | null;
  mpi_ns: number | null;
  mpi_most_ns: number | null;
  wait_ns: number | null;
  wait_bound: boolean;
  precision: string;
}

export interface Wait {
  kind: string;
  function: string;
  process: number;
  rank: number | null;
  call_site: string | null;
  culprit: number | null;
  culprit_function: string | null;
  culprit_call_site: string | null;
  count: number;
  sum_ns: number;
  fresh_ns: number;
  max_ns: number;
  uncertainty_ns: number;
  computing_ns: number;
  communicating_ns: number;
  waiting_ns: number;
}

export interface WaitRoot {
  process: number | null;
  rank: number | null;
  function: string | null;
  call_site: string | null;
  did: string | null;
  count: number;
  fresh_ns: number;
}

// Collective operations that are alike.
export interface Collective {
  function: string;
  communicator: string | null;
  ranks: number | null;
  algorithm: string | null;
  reason: string | null;
  count: number;
  first_sequence: number | null;
  last_sequence: number | null;
  rounds: number | null;
  most_sent: number;
  bytes: number;
  least_bytes: number;
  most_bytes: number;
}

export interface SizeClass {
  from_bytes: number;
  most_bytes: number;
  messages: number;
  bytes: number;
  known: number;
  unexpected: number;
  unexpected_bytes: number;
}

export interface Protocol {
  function: string | null;
  op: string;
  locality: string;
  memory: string | null;
  protocol: string;
  count: number;
  bytes: number;
  least_bytes: number;
  most_bytes: number;
}

export type Reasons = Record<string, number>;

export type Layer = "mpi" | "ucp" | "uct";

export interface Share { recorded: number; of: number }

// step, reason, paid_ppm: with a budget.
export interface RecordedWindow {
  host: number; capture: number; from_ns: number; to_ns: number;
  step?: "uct" | "ucp" | "mpi" | "windows"; reason?: string; paid_ppm?: number;
}

export interface Report {
  schema: string;
  filter: Record<string, string[]> | null;
  hosts: Host[];
  processes: Process[];
  windows?: RecordedWindow[];
  counted?: { captures: number; of: number; timed_every: number };
  loss: { produced: number; stored: number; dropped: Reasons };
  layers?: Record<Layer, { recorded: "always" | "partly" | "never"; ns: number; of_ns: number }>;
  detail?: { calls: Share; ops: Share; transfers: Share; sends: Share; unsummed: number; partial: number };
  matching: {
    sends: number;
    receives: number;
    matched: number;
    ambiguous: number;
    unmatched_sends: Reasons;
    unmatched_receives: Reasons;
  } | null;
  attribution: {
    data_bytes: number;
    to_op: number;
    to_call: number;
    unexplained: number;
    unexplained_reasons: Reasons;
    copy_bytes?: number;
    copy_unexplained?: number;
  };
  notes: Reasons;
  self?: {
    levels: string[];
    records: number;
    bytes: number;
    cpu_ns: number;
    memory_peak: number | null;
    kernel: { time_ns: number; hits: number; sampled_hits: number; spread_ns?: number } | null;
    kernel_unknown?: string;
  };
  devices?: Device[];
  nics?: Nic[];
  routes?: Route[];
  clocks?: Clock[];
  memory?: unknown[];
  slowest: Slow[];
  sizes?: SizeClass[];
  protocols?: Protocol[];
  collectives?: Collective[];
  open?: Open[];
  behind?: Behind[];
  time?: ProcessTime[];
  waits?: Wait[];
  wait_roots?: WaitRoot[];
  path_times?: PathTimes[];
  functions?: FunctionDurations[];
  waits_unknown?: Reasons;
}
