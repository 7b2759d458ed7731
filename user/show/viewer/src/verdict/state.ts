// SPDX-License-Identifier: BSD-3-Clause
// The reader's choices; the URL's fragment holds it, so that a link shows the same.
import { batch, computed, effect, signal } from "@preact/signals";
import { Line, nodesOf, RULES, State, STATES, stateOf, verdict } from "./data";

export const stateOfLine = (line: Line) => stateOf(verdict.findings[line.finding]);

const BAD: State[] = STATES.filter((state) => state !== "pass" && state !== "skip");

// If nothing is wrong, passing rules are shown.
export const STANDARD: State[] = verdict.lines.some((line) => BAD.includes(stateOfLine(line))) ? BAD : [...BAD, "pass"];

export const states = signal<State[]>(STANDARD);
export const rule = signal("");
export const node = signal("");
export const open = signal<number[]>([]); // lines

// Those of a line that are about the wanted node.
export const findingsOf = (line: Line) =>
  line.findings.filter((at) => !node.value || nodesOf(verdict.findings[at].subject).includes(node.value));

const fits = (line: Line) => (!rule.value || verdict.findings[line.finding].rule === rule.value) && findingsOf(line).length > 0;

// Lines of that rule and node, whatever their verdict.
export const candidates = computed(() => verdict.lines.map((_, at) => at).filter((at) => fits(verdict.lines[at])));
export const shown = computed(() => candidates.value.filter((at) => states.value.includes(stateOfLine(verdict.lines[at]))));

export function toggle(at: number) {
  open.value = open.value.includes(at) ? open.value.filter((other) => other !== at) : [...open.value, at];
}

// All findings about a node or a rule, passing ones included.
export function look(wanted: { node?: string; rule?: string }) {
  node.value = wanted.node ?? "";
  rule.value = wanted.rule ?? "";
  states.value = STATES.filter((state) => state !== "skip");
}

export function reset() {
  node.value = rule.value = "";
  states.value = STANDARD;
}

export const filtered = computed(() => node.value !== "" || rule.value !== "" || states.value.join() !== STANDARD.join());

const read = () => batch(() => {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const wanted = fragment.get("verdict");
  states.value = wanted === null ? STANDARD : STATES.filter((state) => wanted.split(",").includes(state));
  rule.value = RULES.includes(fragment.get("rule") ?? "") ? fragment.get("rule")! : "";
  node.value = fragment.get("node") ?? "";
  open.value = (fragment.get("open") ?? "").split(",").filter((at) => verdict.lines[Number(at)] && at).map(Number);
});

function write() {
  const fragment = new URLSearchParams();
  if (states.value.join() !== STANDARD.join()) fragment.set("verdict", states.value.join());
  if (rule.value) fragment.set("rule", rule.value);
  if (node.value) fragment.set("node", node.value);
  if (open.value.length) fragment.set("open", open.value.join());
  const text = fragment.toString().replaceAll("%2C", ",");
  if (text !== location.hash.slice(1)) history.replaceState(null, "", `#${text}`);
}

export function followUrl() {
  read();
  addEventListener("hashchange", read);
  effect(write);
}
