// SPDX-License-Identifier: BSD-3-Clause
// All that the page knows, decoded: the cube at once, the timeline when it is first looked at.
import { Causes } from "./causes";
import type { Directory, Host, Process, Report } from "./directory";
import { callersOutside, outsideMpi } from "./places";
import { allExact } from "./precision";
import { Codes, inflate, Section } from "./section";

export const SORTS = ["calls", "ops", "transfers", "messages"] as const;
export type Sort = (typeof SORTS)[number];

export interface Place {
  label: string;
  frame: string; // the function, else as label
  module: string | null;
  offset: string | null;
  symbol: string | null; // as the file has it
  demangled: string | null; // in C++, with parameters
  file: string | null;
  line: number | null;
  library: string | null; // above UCP
  role: string | null; // of its file
}

const CELL_COLUMNS = new Set([
  "key", "time", "size", "precision", "count", "bytes", "bytes_unknown", "ops", "ops_unknown", "errors", "unchecked", "wire_bytes", "retries",
  "unexplained_bytes", "timed", "time_sum", "exact", "exact_time_sum", "exact_bytes", "waited", "copies", "copy_bytes",
]);

// Sums of facts whose time is exact, and the sums that they are where all of a cell are so: the file has 0 there.
const WHERE_ALL_EXACT: Record<string, string> = { exact: "timed", exact_time_sum: "time_sum", exact_bytes: "bytes" };

// The keys and cells of one sort of fact.
export class Facts {
  readonly keys: number;
  readonly key: Uint32Array;
  readonly time: Uint32Array;
  readonly size: Uint8Array;
  private codes = new Map<string, Uint32Array>();

  constructor(readonly sort: Sort, private section: Section) {
    this.key = section.wide("key");
    this.time = section.wide("time");
    this.size = Uint8Array.from(section.column("size"));
    for (const { name } of section.info.columns ?? [])
      if (!CELL_COLUMNS.has(name)) this.codes.set(name, section.wide(name));
    this.keys = Math.max(0, ...[...this.codes.values()].map((column) => column.length));
  }

  has(name: string): boolean {
    return this.codes.has(name);
  }

  // Codes of a column of keys; all 0 (none or unknown) where the fact has no such field.
  column(name: string): Uint32Array {
    let column = this.codes.get(name);
    if (!column || column.length !== this.keys) this.codes.set(name, (column = new Uint32Array(this.keys)));
    return column;
  }

  // Per cell, in the type they are stored in; 0 where the fact has no such sum.
  cells(name: string): Codes {
    const cells = this.section.column(name);
    if (cells.length !== this.key.length) return new Uint8Array(this.key.length);
    return name in WHERE_ALL_EXACT ? this.exact(cells, WHERE_ALL_EXACT[name]) : cells;
  }

  private exact(some: Codes, whole: string): Codes {
    const [all, timed, counts, precision] = [whole, "timed", "count", "precision"].map((name) => this.cells(name));
    return Float64Array.from(some, (n, i) => (timed[i] === counts[i] && allExact(precision[i]) ? all[i] : n));
  }
}

const OPENING = new Set(["report", "names", "places", "causes", ...SORTS]);

// Reads the directory and inflates the sections that opening the page needs.
export async function readPage(): Promise<Directory> {
  const text = document.getElementById("directory")?.textContent;
  if (!text) throw new Error("this page carries no data");
  const directory = JSON.parse(text) as Directory;
  if (directory.schema !== "ucxbpf.viewer/2")
    throw new Error(`the data have a form that this page does not know: ${directory.schema}`);
  await inflate(directory.sections.filter(({ name }) => OPENING.has(name)));
  return directory;
}

export class Model {
  readonly report: Report;
  readonly names: (string | null)[];
  readonly places: (Place | null)[];
  readonly facts: Record<Sort, Facts>;
  readonly causes: Causes;
  readonly callers: string[]; // of operations outside MPI
  readonly outside: string; // instead of the MPI function that there is none of
  readonly labels: string[]; // of processes, by code
  readonly hostLabels: string[]; // by code
  readonly hosts: Host[]; // by their lowest rank, then as the report has them

  private hostColumns = new Map<Uint32Array, Uint32Array>();

  constructor(readonly directory: Directory) {
    this.report = this.section("report").json() as Report;
    this.names = this.section("names").json() as (string | null)[];
    this.places = this.find("places") ? (this.section("places").json() as (Place | null)[]) : [null];
    this.facts = Object.fromEntries(SORTS.map((sort) => [sort, new Facts(sort, this.section(sort))])) as
      Record<Sort, Facts>;
    this.callers = callersOutside(this.facts.ops, this.places);
    this.outside = outsideMpi(this.callers);
    this.causes = new Causes(this.find("causes") ? this.section("causes") : null);
    this.labels = this.processLabels();
    this.hostLabels = this.labelHosts();
    this.hosts = this.orderHosts();
  }

  find(name: string) {
    return this.directory.sections.find((section) => section.name === name);
  }

  section(name: string): Section {
    const info = this.find(name);
    if (!info) throw new Error(`this page has no section ${name}`);
    return new Section(info);
  }

  // The sections that only the timeline needs.
  inflateTimeline(): Promise<void> {
    return inflate(this.directory.sections.filter(({ name }) => !OPENING.has(name)));
  }

  process(code: number): Process | null {
    return code > 0 ? this.report.processes[code - 1] ?? null : null;
  }

  // Ranks where they tell processes apart, as the text report does.
  private processLabels(): string[] {
    const { processes } = this.report;
    const seen = new Map<number, number>();
    for (const p of processes) if (p.rank !== null) seen.set(p.rank, (seen.get(p.rank) ?? 0) + 1);
    const label = (p: Process) => {
      if (p.rank === null) return `${p.comm} ${p.pid}`;
      return seen.get(p.rank) === 1 ? `${p.rank}` : `${p.rank}#${p.id}`;
    };
    return ["unknown", ...processes.map(label)];
  }

  private labelHosts(): string[] {
    const { hosts } = this.report;
    const alike = (name: string) => hosts.filter((host) => host.name === name).length > 1;
    const label = (host: (typeof hosts)[number]) =>
      alike(host.name) ? `${host.name} (${host.boot_id.slice(0, 8)})` : host.name;
    return ["unknown", ...hosts.map(label)];
  }

  private orderHosts(): Host[] {
    const lowest = new Map<number, number>();
    for (const { host, rank } of this.report.processes)
      if (rank !== null) lowest.set(host, Math.min(rank, lowest.get(host) ?? Infinity));
    const place = (host: Host) => lowest.get(host.id) ?? Infinity;
    return [...this.report.hosts].sort((a, b) => (place(a) === place(b) ? a.id - b.id : place(a) - place(b)));
  }

  // A column of processes as one of their hosts, the same one each time.
  hostsOf(column: Uint32Array): Uint32Array {
    let hosts = this.hostColumns.get(column);
    if (!hosts) this.hostColumns.set(column, (hosts = column.map((code) => this.hostOf(code))));
    return hosts;
  }

  hostOf(code: number): number {
    const process = this.process(code);
    return process ? process.host + 1 : 0;
  }

  // The name of a process where there is room for it.
  longLabel(code: number): string {
    const process = this.process(code);
    if (!process) return "unknown process";
    const who = process.rank === null ? "" : `rank ${this.labels[code]}, `;
    return `${who}${process.comm} ${process.pid} on ${this.hostLabels[process.host + 1]}`;
  }
}
