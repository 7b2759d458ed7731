// SPDX-License-Identifier: BSD-3-Clause
// The state in the URL's fragment, in words: #view=matrix&transport=tcp,cma&time=12-40
import { batch, effect } from "@preact/signals";
import { chosen, engine, Kind, kind, KIND_CODES, measure, model, options, range, sizes, view, VIEWS, ViewName } from "./state";

const PROCESSES = new Set(["process", "src", "dst"]);

// Processes by their number in the report: their labels may be alike.
function wordOf(dim: string, code: number): string {
  if (PROCESSES.has(dim)) return code ? `${code - 1}` : "unknown";
  return engine.dim(dim).values[code];
}

function codeOf(dim: string, word: string): number {
  if (PROCESSES.has(dim)) return word === "unknown" ? 0 : model.process(Number(word) + 1) ? Number(word) + 1 : -1;
  return engine.dim(dim).values.indexOf(word);
}

export function fragment(): string {
  const parts: string[] = [];
  const put = (name: string, words: string[]) =>
    words.length && parts.push(`${name}=${words.map(encodeURIComponent).join(",")}`);
  if (view.value !== "overview") put("view", [view.value]);
  if (measure.value !== "bytes") put("by", [measure.value]);
  if (kind.value !== "data") put("kind", [kind.value]);
  for (const [dim, codes] of chosen.value) put(dim, [...codes].map((code) => wordOf(dim, code)));
  put("size", [...sizes.value].map(String));
  if (range.value) put("time", [`${range.value.from}-${range.value.to}`]);
  for (const [name, value] of options.value) put(name, [value]);
  return parts.join("&");
}

// The part that makes a step in the history: views, filters and times, not how a view lies.
function steps(): string {
  return fragment().split("&").filter((part) => !part.split("=", 1)[0].includes(".")).join("&");
}

function readRange(word: string) {
  const [from, to] = word.split("-").map(Number);
  const { buckets } = model.directory.time;
  return from >= 0 && to > from && from < buckets ? { from, to: Math.min(to, buckets) } : null;
}

function words(value: string): string[] {
  try {
    return value.split(",").map(decodeURIComponent);
  } catch {
    return []; // somebody cut the link short
  }
}

type Codes = ReadonlySet<number>;

const alike = (a: Codes, b: Codes) => a.size === b.size && [...a].every((code) => b.has(code));

// Unchanged parts keep their object, so that sums over them stay cached.
function keep<T>(old: T, next: T, same: (a: T, b: T) => boolean): T {
  return same(old, next) ? old : next;
}

function alikeAll(a: ReadonlyMap<string, Codes>, b: ReadonlyMap<string, Codes>): boolean {
  return a.size === b.size && [...a].every(([dim, codes]) => b.has(dim) && alike(codes, b.get(dim)!));
}

// What is not known here is left out, not an error: links outlive files.
export function readFragment(text: string) {
  const nextChosen = new Map<string, ReadonlySet<number>>();
  const nextOptions = new Map<string, string>();
  const single = new Map<string, string>();
  let nextSizes: number[] = [];
  for (const part of text.replace(/^#/, "").split("&")) {
    const [name, value] = [part.split("=", 1)[0], words(part.slice(part.indexOf("=") + 1))];
    if (!part.includes("=") || !value.length) continue;
    if (name === "size") nextSizes = value.map(Number).filter((size) => size >= 0 && size < 66);
    else if (name.includes(".")) nextOptions.set(name, value[0]);
    else if (engine.has(name) && name !== "kind") {
      const codes = value.map((word) => codeOf(name, word)).filter((code) => code >= 0);
      if (codes.length) nextChosen.set(name, new Set(codes));
    } else single.set(name, value[0]);
  }
  batch(() => {
    const wanted = single.get("view") as ViewName;
    view.value = VIEWS.includes(wanted) ? wanted : "overview";
    measure.value = single.get("by") === "count" ? "count" : "bytes";
    const wantedKind = single.get("kind") as Kind;
    kind.value = wantedKind in KIND_CODES ? wantedKind : "data";
    chosen.value = keep<typeof chosen.value>(chosen.value, nextChosen, alikeAll);
    sizes.value = keep<Codes>(sizes.value, new Set(nextSizes), alike);
    range.value = keep(range.value, readRange(single.get("time") ?? ""), (a, b) => a?.from === b?.from && a?.to === b?.to);
    options.value = nextOptions;
  });
}

export function followUrl() {
  readFragment(location.hash);
  addEventListener("hashchange", () => {
    if (location.hash.replace(/^#/, "") !== fragment()) readFragment(location.hash);
  });
  let first = true;
  let waiting = false;
  let step = steps();
  // Unless the reader has followed another link meanwhile.
  const write = (before: string) => {
    waiting = false;
    if (location.hash !== before) return;
    const now = steps();
    if (now === step) history.replaceState(null, "", `#${fragment()}`);
    else history.pushState(null, "", `#${fragment()}`);
    step = now;
  };
  effect(() => {
    const text = fragment();
    if (first || location.hash.replace(/^#/, "") === text) {
      first = false;
      step = steps();
      return;
    }
    const before = location.hash;
    if (!waiting) requestAnimationFrame(() => setTimeout(() => write(before)));
    waiting = true;
  });
}
