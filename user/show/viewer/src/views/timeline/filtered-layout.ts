// SPDX-License-Identifier: BSD-3-Clause
// Which tracks the filters leave; events of the others are dimmed, their place stays.
import { useMemo, useRef } from "preact/hooks";
import type { Timeline } from "../../data/timeline";
import { chosen, model } from "../../state/state";
import { arrangement } from "./arrange";
import { Layout, layoutTracks, Track, Wish } from "./layout";

// Filters that take tracks away.
const TRACKS = ["process", "host", "transport", "device"];

function wish(): Wish {
  const [processes, hosts, transports, devices] = TRACKS.map((id) => chosen.value.get(id));
  const passes = (codes: ReadonlySet<number> | undefined, code: number) => !codes?.size || codes.has(code);
  return {
    host: (id) => passes(hosts, id + 1), process: (code) => passes(processes, code),
    device: (transport, device) => passes(transports, transport) && passes(devices, device),
  };
}

// Tracks stay the same object while they are the same ones.
export function useLayout(timeline: Timeline): Layout {
  const last = useRef<Layout | null>(null);
  const asked = TRACKS.map((id) => [...(chosen.value.get(id) ?? [])].join()).join(";");
  const how = arrangement();
  const arranged = `${how.sort} ${how.group} ${how.rows} ${[...how.folded].join()}`;
  return useMemo(() => {
    const next = layoutTracks(model, timeline, wish(), how);
    return (last.current = last.current && alike(last.current, next) ? last.current : next);
  }, [timeline, asked, arranged]);
}

function alike(a: Layout, b: Layout): boolean {
  const same = (one: Track, other: Track) =>
    one.host === other.host && one.y === other.y && one.folded === other.folded && one.lanes.length === other.lanes.length &&
    one.lanes.every(({ lane }, i) => lane === other.lanes[i].lane);
  return a.height === b.height && a.tracks.length === b.tracks.length && a.tracks.every((track, i) => same(track, b.tracks[i]));
}
