// SPDX-License-Identifier: BSD-3-Clause
// What is drawn of the timeline, and where on the canvas its times lie.
import type { Sort } from "../../data/model";
import type { Timeline } from "../../data/timeline";
import type { Colours } from "./colours";
import type { Layout, Track } from "./layout";

export interface Window {
  from: number; // ns
  to: number;
}

export interface Look extends Window {
  width: number; // px, all of the canvas
  height: number;
  scroll: number; // px
}

export interface Arrow {
  send: number; // events
  recv: number;
  arrival: number | null;
}

export interface Scene {
  timeline: Timeline;
  layout: Layout;
  look: Look;
  colours: Colours;
  fails: (sort: Sort) => Uint8Array; // by key: 0 passes the filters
  sizes: ReadonlySet<number>;
  filtered: boolean; // by anything
  chosen: ((host: number) => Window) | null;
  chain: Set<number>; // events to stand out
  marked: number | null; // process
  arrow: Arrow | null; // of the chosen message
  arrows: Arrow[]; // of all messages of the chosen time
}

export const DIM = 0.16; // how strong is what does not pass the filters
export const AXIS = 24; // px above the tracks
export const GUTTER = 172; // px left of them

export function xOf(look: Look, ns: number): number {
  return GUTTER + ((ns - look.from) / (look.to - look.from)) * (look.width - GUTTER);
}

export function nsOf(look: Look, x: number): number {
  return look.from + ((x - GUTTER) / (look.width - GUTTER)) * (look.to - look.from);
}

export function tracksInSight({ scroll, height }: Look, layout: Layout): Track[] {
  return layout.tracks.filter((t) => t.y + t.height > scroll && t.y < scroll + height - AXIS);
}
