// SPDX-License-Identifier: BSD-3-Clause
// Which processes were started with which variables. Those that are not the same for all come first.
import type { Process } from "./directory";

export interface Setting {
  name: string;
  value: string | null; // null: not set
  processes: number[]; // ids
  values: number; // how many different ones the variable has, not being set among them
}

export interface Environment {
  settings: Setting[];
  known: number; // processes whose variables are known
  cut: number; // processes of which some were left out
}

// A variable that was left out may be set: nothing is concluded from its absence.
export function environmentOf(processes: Process[]): Environment {
  const known = processes.filter((process) => process.environment);
  const cut = known.filter((process) => process.environment_cut);
  const by = new Map<string, Map<string, number[]>>();
  for (const { id, environment } of known)
    for (const { name, value } of environment!) {
      let values = by.get(name);
      if (!values) by.set(name, (values = new Map()));
      const ids = values.get(value);
      if (ids) ids.push(id);
      else values.set(value, [id]);
    }
  const whole = known.filter((process) => !process.environment_cut);
  const settings: Setting[] = [];
  for (const [name, values] of by) {
    const having = new Set([...values.values()].flat());
    const without = whole.map(({ id }) => id).filter((id) => !having.has(id));
    const number = values.size + Number(without.length > 0);
    for (const [value, ids] of values) settings.push({ name, value, processes: ids, values: number });
    if (without.length) settings.push({ name, value: null, processes: without, values: number });
  }
  settings.sort((a, b) => b.values - a.values || (a.name < b.name ? -1 : a.name > b.name ? 1 : b.processes.length - a.processes.length));
  return { settings, known: known.length, cut: cut.length };
}

// "0-3, 8": numbers that follow one another as ranges.
export function ranges(numbers: number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b);
  const out: [number, number][] = [];
  for (const n of sorted) {
    const last = out[out.length - 1];
    if (last && n === last[1] + 1) last[1] = n;
    else out.push([n, n]);
  }
  return out.map(([from, to]) => (from === to ? `${from}` : `${from}${to === from + 1 ? ", " : "-"}${to}`)).join(", ");
}
