// SPDX-License-Identifier: BSD-3-Clause
// The filters in force, each with a button that takes it away.
import { sizeLabel } from "../data/dims";
import { chosen, clearAll, engine, filtered, model, range, setCodes, sizes } from "../state/state";
import { count, instant } from "./format";

const SOME = 4;

function list(words: string[]): string {
  const more = words.length > SOME ? ` and ${count(words.length - SOME)} more` : "";
  return words.slice(0, SOME).join(", ") + more;
}

function Chip({ label, text, clear }: { label: string; text: string; clear: () => void }) {
  return (
    <span class="chip">
      <span title={text}>{label}: {text}</span>
      <button type="button" aria-label={`Remove the filter ${label}`} onClick={clear}>×</button>
    </span>
  );
}

// Where a bucket begins, in ns from the first event of the first host.
export function bucketStart(bucket: number): number {
  const { hosts, bucket_ns } = model.directory.time;
  return bucket * bucket_ns + (hosts[0]?.zero_ns ?? 0);
}

export function rangeText(): string {
  const { bucket_ns } = model.directory.time;
  const at = range.value;
  if (!at) return "";
  return `${instant(Math.max(0, bucketStart(at.from)), bucket_ns)} – ${instant(bucketStart(at.to), bucket_ns)}`;
}

export function Chips() {
  if (!filtered.value) return null;
  return (
    <div class="chips" role="group" aria-label="Filters in force">
      {range.value && <Chip label="Time" text={rangeText()} clear={() => (range.value = null)} />}
      {[...chosen.value].map(([id, codes]) => {
        const dim = engine.dim(id);
        const text = list([...codes].map((code) => dim.values[code]));
        return <Chip key={id} label={dim.label} text={text} clear={() => setCodes(id, new Set())} />;
      })}
      {sizes.value.size > 0 && (
        <Chip
          label="Size" text={list([...sizes.value].sort((a, b) => a - b).map(sizeLabel))}
          clear={() => (sizes.value = new Set())}
        />
      )}
      <button type="button" class="button plain no-print" onClick={clearAll}>Clear all</button>
    </div>
  );
}
