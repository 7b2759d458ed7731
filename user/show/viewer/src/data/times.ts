// SPDX-License-Identifier: BSD-3-Clause
// Time in MPI calls and waiting in them, by process and by function, of what passes the filters.
import type { Model } from "./model";
import type { View } from "./view";

export interface OwnTime {
  process: number; // code
  span: number | null; // ns in which it was seen, or of these in the chosen time; null: not known
  mpi: number;
  waited: number;
  precision: number; // bits
}

export interface FunctionTime {
  code: number;
  time: number; // of all processes
  calls: number;
  waited: number;
  precision: number;
  processes: number; // that call it
  least: number; // of them
  most: number;
  who: number; // process code, with most
}

function spanOf(model: Model, view: View, process: number, whole: number | null): number | null {
  const { range } = view.selection;
  const host = model.directory.time.hosts.find((row) => row.host === model.hostOf(process) - 1);
  if (!range || !host) return whole;
  const { bucket_ns } = model.directory.time;
  const [from, to] = [range.from, range.to].map((at) => Math.min(host.span_ns, Math.max(0, host.zero_ns + at * bucket_ns)));
  return to - from;
}

export function processTimes(model: Model, view: View): OwnTime[] {
  const f = model.facts.calls;
  const whole = new Map((model.report.time ?? []).map((row) => [row.process + 1, row.span_ns]));
  return view.group("calls", [f.column("process")], ["time_sum", "waited", "precision"]).filter(({ codes }) => codes[0]).map(({ codes, sums }) => ({
    process: codes[0], span: spanOf(model, view, codes[0], whole.get(codes[0]) ?? null), mpi: sums[0], waited: sums[1], precision: sums[2],
  }));
}

export function functionTimes(model: Model, view: View): FunctionTime[] {
  const f = model.facts.calls;
  const out = new Map<number, FunctionTime>();
  for (const { codes, sums } of view.group("calls", [f.column("function"), f.column("process")], ["count", "time_sum", "waited", "precision"])) {
    const [calls, time, waited, precision] = sums;
    const row = out.get(codes[0]);
    if (!row) {
      out.set(codes[0], { code: codes[0], time, calls, waited, precision, processes: 1, least: time, most: time, who: codes[1] });
      continue;
    }
    row.calls += calls;
    row.waited += waited;
    row.precision |= precision;
    row.time += time;
    row.processes++;
    row.least = Math.min(row.least, time);
    if (time > row.most) [row.most, row.who] = [time, codes[1]];
  }
  return [...out.values()];
}
