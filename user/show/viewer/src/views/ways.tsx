// SPDX-License-Identifier: BSD-3-Clause
import type { View } from "../data/view";
import { knowsMemory, Way, ways } from "../data/ways";
import { model } from "../state/state";
import { bytes, count, share } from "../ui/format";
import { Column, DataTable } from "../ui/table";

export function Ways({ view }: { view: View }) {
  const rows = ways(model, view);
  if (!knowsMemory(model)) return null;
  const whole = rows.reduce((sum, way) => sum + way.bytes, 0);
  const columns: Column<Way>[] = [
    { id: "chain", label: "Memory", words: true, value: (way) => (way.chain ?? way.ends).join(" → ") },
    { id: "via", label: "Via", words: true, value: (way) => (way.chain ? way.via.join(", ") : `unknown: ${way.reason ?? "no way was looked for"}`) },
    { id: "messages", label: "Messages", value: (way) => way.count, show: (way) => count(way.count) },
    { id: "bytes", label: "Bytes", value: (way) => way.bytes, show: (way) => bytes(way.bytes) },
    { id: "share", label: "Bytes %", value: (way) => (whole ? (100 * way.bytes) / whole : null), show: (way) => share(way.bytes, whole) },
    { id: "copies", label: "Copies", value: (way) => way.copies, show: (way) => count(way.copies) },
    { id: "copied", label: "Copied", value: (way) => way.copied, show: (way) => bytes(way.copied) },
  ];
  return (
    <DataTable
      id="table-ways" title="Memory ways" about="all memory that messages were in, from sender to receiver" columns={columns}
      rows={rows} sort="bytes"
    />
  );
}
