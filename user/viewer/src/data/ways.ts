// SPDX-License-Identifier: BSD-3-Clause
// Which memory messages went through, from the report's rows: these have no time and no size.
import type { MessageRow } from "./directory";
import type { View } from "./engine";
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

function fits(model: Model, view: View, row: MessageRow): boolean {
  const { wanted } = view.selection;
  const [src, dst] = [row.src, row.dst].map((id) => (id === null ? 0 : id + 1));
  const any = (dim: string, codes: number[]) => !wanted.get(dim)?.size || codes.some((code) => wanted.get(dim)!.has(code));
  const named = wanted.get("function");
  return any("src", [src]) && any("dst", [dst]) && any("process", [src, dst]) &&
    any("host", [model.hostOf(src), model.hostOf(dst)]) &&
    (!named?.size || [...named].some((code) => model.names[code] === row.function));
}

// Empty where no process has a GPU library: all is host memory.
export function ways(model: Model, view: View): Way[] {
  const out = new Map<string, Way>();
  for (const row of model.report.messages ?? []) {
    if (row.chain === undefined || !fits(model, view, row)) continue;
    const ends: [string, string] = [row.src_mem ?? "unknown", row.dst_mem ?? "unknown"];
    const id = JSON.stringify([row.chain, row.via, row.chain ? null : ends, row.chain_reason]);
    const way = out.get(id) ?? {
      chain: row.chain, via: row.via ?? [], ends, reason: row.chain_reason ?? null, count: 0, bytes: 0, copies: 0, copied: 0,
      senders: new Set<number>(),
    };
    way.count += row.count;
    way.bytes += row.bytes;
    way.copies += row.copies ?? 0;
    way.copied += row.copy_bytes ?? 0;
    if (row.src !== null) way.senders.add(row.src + 1);
    out.set(id, way);
  }
  return [...out.values()];
}
