// SPDX-License-Identifier: BSD-3-Clause
// Which memory messages went through, on their way from the sender's buffer to the receiver's.
import type { View } from "./view";
import type { Model } from "./model";

export interface Way {
  chain: string[] | null; // null: not known
  via: string[];
  ends: [string, string];
  reason: string | null;
  count: number;
  bytes: number;
  copies: number;
  copied: number;
  senders: Set<number>; // codes
}

const COLUMNS = ["chain", "via", "chain_reason", "src_mem", "dst_mem", "src"];
const SUMS = ["count", "bytes", "copies", "copy_bytes"];

// Without a GPU library all memory is the host's, and is not mentioned.
export function knowsMemory(model: Model): boolean {
  return !!(model.report.memory || model.report.devices) && model.facts.messages.has("chain");
}

export function ways(model: Model, view: View): Way[] {
  if (!knowsMemory(model)) return [];
  const f = model.facts.messages;
  const out = new Map<string, Way>();
  for (const { codes, sums } of view.group("messages", COLUMNS.map((name) => f.column(name)), SUMS)) {
    const [chain, via, reason, src, dst] = codes.slice(0, 5).map((code) => model.names[code]);
    const ends: [string, string] = [src ?? "unknown", dst ?? "unknown"];
    const id = JSON.stringify(chain ? [chain, via] : [ends, reason]);
    const way = out.get(id) ?? {
      chain: chain?.split(",") ?? null, via: via?.split(",") ?? [], ends, reason, count: 0, bytes: 0, copies: 0, copied: 0,
      senders: new Set<number>(),
    };
    way.count += sums[0];
    way.bytes += sums[1];
    way.copies += sums[2];
    way.copied += sums[3];
    way.senders.add(codes[5]);
    out.set(id, way);
  }
  return [...out.values()];
}
