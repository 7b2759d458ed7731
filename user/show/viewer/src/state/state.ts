// SPDX-License-Identifier: BSD-3-Clause
// The reader's choices. All of them are in the URL's fragment, so that a link shows the same.
import { computed, effect, signal } from "@preact/signals";
import { allDims } from "../data/dims";
import { Engine } from "../data/engine";
import type { Wanted } from "../data/conditions";
import type { Range } from "../data/filter";
import { Model, readPage } from "../data/model";
import { View } from "../data/view";

export const VIEWS = ["overview", "summary", "timeline", "matrix", "graphs", "tables", "hosts"] as const;
export type ViewName = (typeof VIEWS)[number];
export type Measure = "bytes" | "count";
export type Kind = "data" | "control" | "copy";

export const KIND_CODES: Record<Kind, number> = { data: 0, control: 1, copy: 2 };

export const KIND_WORDS: Record<Kind, string> = {
  data: "payload", control: "UCX's own traffic", copy: "payload on its way within its process",
};

export const KIND_NOUNS: Record<Kind, [string, string]> = {
  data: ["data transfer", "data transfers"], control: ["control transfer", "control transfers"], copy: ["copy", "copies"],
};

export let model: Model;
export let engine: Engine;

// The subject of a view; parts that are drawn later must not mix it with a newer choice.
export function kindOf(view: View): Kind {
  const [code] = view.selection.wanted.get("kind")!;
  return (Object.keys(KIND_CODES) as Kind[]).find((kind) => KIND_CODES[kind] === code)!;
}

export const view = signal<ViewName>("overview");
export const measure = signal<Measure>("bytes");
export const kind = signal<Kind>("data");
export const chosen = signal<Wanted>(new Map());
export const sizes = signal<ReadonlySet<number>>(new Set());
export const range = signal<Range | null>(null);
// Choices inside of a view: "matrix.by" → "host"
export const options = signal<ReadonlyMap<string, string>>(new Map());

// Data, control and copies are never added up: one of them is always chosen.
const wanted = computed<Wanted>(() => new Map([...chosen.value, ["kind", new Set([KIND_CODES[kind.value]])]]));

let last: View | null = null;
export const current = computed(
  () => (last = new View(engine, { wanted: wanted.value, sizes: sizes.value, range: range.value }, last)),
);

// The same a frame later, for parts beside the view that may lag behind.
export const settled = signal<View>(undefined!);

const idle = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 50));

function prepare(steps: Iterator<void>) {
  idle(() => steps.next().done || prepare(steps));
}

// Reads the page: nothing else here is used before.
export async function openPage() {
  model = new Model(await readPage());
  engine = new Engine(model, allDims(model));
  settled.value = current.peek();
  effect(() => {
    const view = current.value;
    if (view !== settled.peek()) requestAnimationFrame(() => setTimeout(() => (settled.value = view)));
  });
  prepare(engine.ahead());
}

export function option(name: string, otherwise: string): string {
  return options.value.get(name) ?? otherwise;
}

export function setOption(name: string, value: string) {
  options.value = new Map(options.value).set(name, value);
}

export function setCodes(dim: string, codes: ReadonlySet<number>) {
  const next = new Map(chosen.value);
  if (codes.size) next.set(dim, codes);
  else next.delete(dim);
  chosen.value = next;
}

export function toggleCode(dim: string, code: number) {
  const codes = new Set(chosen.value.get(dim));
  if (!codes.delete(code)) codes.add(code);
  setCodes(dim, codes);
}

export function clearAll() {
  chosen.value = new Map();
  sizes.value = new Set();
  range.value = null;
}

export const filtered = computed(() => chosen.value.size > 0 || sizes.value.size > 0 || range.value !== null);

// The text that an empty table or chart shows.
export function none(of: string): string {
  return filtered.value ? `No ${of} passes the filters.` : `No ${of} was recorded.`;
}
