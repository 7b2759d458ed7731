// SPDX-License-Identifier: BSD-3-Clause
// What is not known of the whole capture. No filter touches it.
import { bytes, count, plural, share, time } from "../ui/format";
import type { Reasons, Share } from "./directory";
import { lacking, recorded } from "./layers";
import type { Model } from "./model";

export interface Unknown {
  id: string;
  label: string;
  text: string;
  fine: boolean; // nothing is missing
  reasons: [string, string][];
}

function reasons(map: Reasons, write: (value: number) => string): [string, string][] {
  return Object.entries(map).sort((a, b) => b[1] - a[1]).map(([reason, value]) => [reason, write(value)]);
}

function lost(model: Model): Unknown {
  const { loss } = model.report;
  const dropped = loss.produced - loss.stored;
  return {
    id: "lost", label: "Lost", fine: !dropped,
    text: dropped
      ? `${count(dropped)} of ${count(loss.produced)} records (${share(dropped, loss.produced)})`
      : `none of ${count(loss.produced)} records`,
    reasons: reasons(loss.dropped, count),
  };
}

// Calls, operations and transfers that are known by their sum alone.
function detail(model: Model): Unknown[] {
  const { detail: of } = model.report;
  if (!of) return [];
  const parts: [string, Share][] = [["calls", of.calls], ["operations", of.ops], ["transfers", of.transfers], ["sends", of.sends]];
  return [{
    id: "detail", label: "Detail", fine: false,
    text: parts.filter(([, part]) => part.of).map(([name, part]) => `${share(part.recorded, part.of)} of ${name}`).join(", ")
      + (of.unsummed ? `; at least ${count(of.unsummed)} records are in no sum`
        : of.partial ? "; sums lack what the capture lacks" : "; the rest is in all sums"),
    reasons: parts.map(([name, part]) => [name, `${count(part.recorded)} of ${count(part.of)}`]),
  }];
}

function layers(model: Model): Unknown[] {
  const parts = lacking(model.report);
  const budget = model.report.windows?.some(({ step }) => step);
  const text = parts.join("; ") + (budget ? "; --budget none records all layers" : "");
  return parts.length ? [{ id: "layers", label: "Layers", fine: false, text, reasons: [] }] : [];
}

function unattributed(model: Model): Unknown[] {
  if (recorded(model.report, "uct") === "never") return [];
  const { data_bytes, unexplained, unexplained_reasons } = model.report.attribution;
  return [{
    id: "unattributed", label: "Unattributed", fine: !unexplained,
    text: `${bytes(unexplained)} of ${bytes(data_bytes)} have no operation`,
    reasons: reasons(unexplained_reasons, bytes),
  }];
}

function unmatched(model: Model): Unknown[] {
  const { matching } = model.report;
  if (!matching)
    return [{ id: "unmatched", label: "Unmatched", fine: false, text: "messages were not recorded (--count)", reasons: [] }];
  if (recorded(model.report, "ucp") === "never") return [];
  const sends = matching.sends - matching.matched;
  const receives = matching.receives - matching.matched;
  const why: [string, string][] = [
    ...reasons(matching.unmatched_sends, (n) => plural(n, "send")),
    ...reasons(matching.unmatched_receives, (n) => plural(n, "receive")),
  ];
  if (matching.ambiguous) why.push(["ambiguous: more than one possible receive", plural(matching.ambiguous, "send")]);
  return [{
    id: "unmatched", label: "Unmatched", fine: !sends && !receives, reasons: why,
    text: `${count(sends)} of ${plural(matching.sends, "send")}, ${count(receives)} of ${plural(matching.receives, "receive")}`,
  }];
}

const COLUMNS: Record<string, string> = {
  place: "call sites", src_reason: "why the sender's memory is not known", dst_reason: "why the receiver's memory is not known",
  chain_reason: "why a way is not known", memory_reason: "why a buffer's memory is not known", memory_known_by: "how a buffer's memory is known",
  "ops.peer": "peers of operations", peer: "peers", src: "senders", dst: "receivers", chain: "ways through memory", via: "transports of ways", ucp_op: "UCP operations",
  causes: "causes of operations and transfers", recv_causes: "likewise of receives",
};

const columnWords = (name: string) => COLUMNS[name] ?? name.replace(/_/g, " ");

function kept(model: Model): Unknown {
  const { cube, time: scale, timeline } = model.directory;
  const { events } = timeline;
  const single = !events.of ? (timeline.untimed ? "sums alone, no single events" : "no event was recorded") : events.kept === events.of
    ? `all ${count(events.of)} single events`
    : `${count(events.kept)} of ${count(events.of)} single events`;
  const why: [string, string][] = [
    ["filters and tables: time in steps of", time(scale.bucket_ns)],
    ...(timeline.levels.length && events.kept < events.of
      ? [["timeline, where single events were not kept: steps from", time(timeline.levels[0].bucket_ns)] as [string, string]]
      : []),
  ];
  if (cube.merged.length) why.push(["left out of filters and tables, for want of room", cube.merged.map(columnWords).join(", ")]);
  if (timeline.untimed) why.push(["of no known time, so not on the timeline", count(timeline.untimed)]);
  if (model.directory.rounded) why.push(["sums beyond 2^53, rounded", count(model.directory.rounded)]);
  return {
    id: "kept", label: "Kept", fine: events.of > 0 && events.kept === events.of && !cube.merged.length, text: single, reasons: why,
  };
}

export function unknowns(model: Model): Unknown[] {
  return [lost(model), ...detail(model), ...layers(model), ...unattributed(model), ...unmatched(model), kept(model)];
}
