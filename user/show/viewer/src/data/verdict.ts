// SPDX-License-Identifier: BSD-3-Clause
// Sentences about the numbers. Each holds for the facts that pass the filters, and claims no more.
import { brief, bytes, count, plural, share, time } from "../ui/format";
import type { View } from "./view";
import type { Model } from "./model";
import { aboutBehind } from "./behind";
import { aboutCauses, aboutOpen, aboutWaiting } from "./waits";
import { ways } from "./ways";

export interface Sentence {
  text: string;
  tone: "plain" | "good" | "warn";
  process?: number; // code: where it is in the timeline shows more
}

interface Part {
  name: string;
  bytes: number;
}

const MANY = 6;

function largest(parts: Map<string, number>): Part[] {
  return [...parts].map(([name, value]) => ({ name, bytes: value })).filter((part) => part.bytes > 0)
    .sort((a, b) => b.bytes - a.bytes);
}

function words(parts: Part[], whole: number): string {
  const some = parts.slice(0, 3).map((part) => `${share(part.bytes, whole)} over ${brief(part.name)}`);
  if (parts.length > 3) some.push(`${share(parts.slice(3).reduce((n, p) => n + p.bytes, 0), whole)} over others`);
  return some.length > 1 ? `${some.slice(0, -1).join(", ")} and ${some.at(-1)}` : some[0];
}

function add(map: Map<string, number>, name: string, value: number) {
  map.set(name, (map.get(name) ?? 0) + value);
}

function ranks(model: Model, codes: Iterable<number>): string {
  const all = [...new Set(codes)].filter((code) => code > 0).sort((a, b) => a - b);
  const some = all.slice(0, MANY).map((code) => brief(model.labels[code])).join(", ");
  const noun = all.length === 1 ? "process" : "processes";
  return `${noun} ${some}${all.length > MANY ? ` and ${count(all.length - MANY)} more` : ""}`;
}

const ON_GPU = /^(gpu|managed)/;
const IN_HOST = /^(host|pinned)$/;

// Messages with a known path through memory: direct ones, and those staged in host memory.
function aboutWays(model: Model, view: View): Sentence[] {
  const all = ways(model, view).filter((way) => (way.chain ?? way.ends).some((memory) => ON_GPU.test(memory)));
  const whole = all.reduce((sum, way) => sum + way.bytes, 0);
  if (!whole) return [];
  const straight = new Map<string, number>();
  const senders = new Set<number>();
  let [staged, unknown] = [0, 0];
  for (const way of all) {
    if (!way.chain) unknown += way.bytes;
    else if (way.chain.slice(1, -1).some((memory) => IN_HOST.test(memory))) {
      staged += way.bytes;
      way.senders.forEach((code) => senders.add(code));
    } else add(straight, way.via.join(" and "), way.bytes);
  }
  const parts = [];
  if (straight.size) parts.push(words(largest(straight), whole));
  if (staged) parts.push(`${share(staged, whole)} were staged through host memory, sent by ${ranks(model, senders)}`);
  if (unknown) parts.push(`of ${share(unknown, whole)} the way is not known`);
  const text = `Of ${bytes(whole)} in messages from or to GPU memory: ${parts.join("; ")}.`;
  return [{ text, tone: staged || unknown ? "warn" : "good" }];
}

// From the transfers, if messages are unknown.
function aboutGpus(model: Model, view: View): Sentence[] {
  const f = model.facts.transfers;
  const columns = ["transport", "src_mem", "dst_mem"].map((name) => f.column(name));
  const by = new Map<string, number>();
  let whole = 0;
  for (const { codes, sums } of view.group("transfers", columns, ["bytes"])) {
    const [transport, src, dst] = codes.map((code) => model.names[code] ?? "unknown");
    if (!ON_GPU.test(src) && !ON_GPU.test(dst)) continue;
    whole += sums[0];
    add(by, transport, sums[0]);
  }
  if (!whole) return [];
  return [{ text: `Of ${bytes(whole)} transferred from or to GPU memory, ${words(largest(by), whole)}.`, tone: "plain" }];
}

const WHERE = ["places that are not known", "the process itself", "other processes of the same host", "other hosts"];

function aboutPaths(model: Model, view: View): Sentence[] {
  const f = model.facts.transfers;
  const rows = view.group("transfers", [f.column("transport"), f.column("locality")], ["bytes"]);
  const whole = rows.reduce((sum, row) => sum + row.sums[0], 0);
  if (!whole) return [];
  const by = new Map<string, number>();
  const where = new Map<string, number>();
  for (const { codes, sums } of rows) {
    add(by, model.names[codes[0]] ?? "unknown transport", sums[0]);
    add(where, WHERE[codes[1]], sums[0]);
  }
  const reach = largest(where);
  const to = reach.length === 1 ? `all to ${reach[0].name}` :
    reach.map((part) => `${share(part.bytes, whole)} to ${part.name}`).join(", ");
  return [{ text: `${bytes(whole)} went ${words(largest(by), whole)}; ${to}.`, tone: "plain" }];
}

function aboutProtocols(model: Model, view: View): Sentence[] {
  const f = model.facts.transfers;
  let whole = 0;
  let transfers = 0;
  let zcopy = 0;
  let zcopies = 0;
  for (const { codes, sums } of view.group("transfers", [f.column("op")], ["bytes", "count"])) {
    whole += sums[0];
    transfers += sums[1];
    if (!/zcopy/.test(model.names[codes[0]] ?? "")) continue;
    zcopy += sums[0];
    zcopies += sums[1];
  }
  if (!whole || !zcopies || zcopies === transfers) return [];
  const text = `Zero-copy operations carried ${share(zcopy, whole)} of the bytes in ${share(zcopies, transfers)} of ` +
    `the transfers; the rest was copied on its way.`;
  return [{ text, tone: "plain" }];
}

function aboutTime(model: Model, view: View): Sentence[] {
  const f = model.facts.calls;
  const rows = view.group("calls", [f.column("function")], ["time_sum", "count", "precision"]);
  const whole = rows.reduce((sum, row) => sum + row.sums[0], 0);
  if (!whole) return [];
  const top = rows.reduce((best, row) => (row.sums[0] > best.sums[0] ? row : best));
  const atLeast = top.sums[2] & 8 ? "at least " : "";
  const name = model.names[top.codes[0]] ?? "calls outside MPI";
  return [{
    text: `Of the time seen in MPI calls, ${share(top.sums[0], whole)} was in ${brief(name)}: ${atLeast}${time(top.sums[0])} in ` +
      `${plural(top.sums[1], "call")}, all processes added up.`,
    tone: "plain",
  }];
}

function aboutBalance(model: Model, view: View): Sentence[] {
  const f = model.facts.transfers;
  const rows = view.group("transfers", [f.column("src")], ["bytes"]).filter((row) => row.codes[0] && row.sums[0]);
  if (rows.length < 2) return [];
  const mean = rows.reduce((sum, row) => sum + row.sums[0], 0) / rows.length;
  const top = rows.reduce((best, row) => (row.sums[0] > best.sums[0] ? row : best));
  if (top.sums[0] < 1.5 * mean) return [];
  const text = `${ranks(model, [top.codes[0]]).replace("process", "Process")} sent ${bytes(top.sums[0])}, ` +
    `${(top.sums[0] / mean).toFixed(1)} times the mean of those that sent.`;
  return [{ text, tone: "plain" }];
}

function aboutRetries(view: View): Sentence[] {
  const retries = view.total("transfers", "retries");
  if (!retries) return [];
  return [{
    text: `${count(retries)} attempts to send found no resources and were made again (a transfer that was sent is ` +
      `counted once).`,
    tone: "warn",
  }];
}

export function verdict(model: Model, view: View): Sentence[] {
  const out = [
    ...aboutOpen(model, view), ...aboutBehind(model, view), ...aboutWaiting(model, view), ...aboutCauses(model, view), ...aboutPaths(model, view), ...aboutWays(model, view), ...aboutGpus(model, view), ...aboutProtocols(model, view),
    ...aboutTime(model, view), ...aboutBalance(model, view), ...aboutRetries(view),
  ];
  return out.length ? out : [{ text: "Nothing that passes the filters moved any bytes.", tone: "plain" }];
}
