// SPDX-License-Identifier: BSD-3-Clause
// Searching the timeline: events by function, operation or call site, of all processes or of one rank.
import { LAYER_NAMES, LAYER_SORTS, Timeline, UCT } from "./timeline";

export interface Found {
  events: Uint32Array; // by start
  process: number | null; // code, where a rank was asked for
}

const MOST = 200_000;

// "rank 3", "rank 3 allreduce", "solve.c"
function asked(timeline: Timeline, query: string): { process: number | null; words: string } {
  const match = /\brank\s*(\d+)\b/i.exec(query);
  if (!match) return { process: null, words: query.trim().toLowerCase() };
  const at = timeline.model.report.processes.findIndex((p) => p.rank === Number(match[1]));
  return { process: at < 0 ? -1 : at + 1, words: query.replace(match[0], "").trim().toLowerCase() };
}

// By key of a layer's facts: whether its name or its call site has the words.
function keysWith({ model }: Timeline, layer: number, words: string): Uint8Array {
  const facts = model.facts[LAYER_SORTS[layer]];
  const [name, place] = [facts.column(LAYER_NAMES[layer]), facts.column("place")];
  const has = (text: string | null | undefined) => !!text && text.toLowerCase().includes(words);
  const names = model.names.map(has);
  const places = model.places.map((at) => !!at && (has(at.label) || has(at.demangled) || has(at.symbol)));
  return Uint8Array.from(name, (code, i) => (names[code] || (layer === 0 && places[place[i]]) ? 1 : 0));
}

export function search(timeline: Timeline, query: string): Found {
  const { process, words } = asked(timeline, query);
  const { events, lanes } = timeline;
  if (!words) return { events: new Uint32Array(), process };
  const keys = [0, 1, UCT].map((layer) => keysWith(timeline, layer, words));
  const out: number[] = [];
  for (const lane of lanes) {
    if (lane.layer > UCT || (process !== null && lane.process !== process)) continue;
    for (let i = lane.first; i < lane.end && out.length < MOST; i++) if (keys[lane.layer][events.key[i]]) out.push(i);
  }
  return { events: Uint32Array.from(out).sort((a, b) => events.start[a] - events.start[b] || a - b), process };
}
