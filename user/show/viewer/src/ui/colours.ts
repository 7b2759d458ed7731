// SPDX-License-Identifier: BSD-3-Clause
// The same colour for a transport in every view and every report; related ones are neighbours.
import { computed, signal } from "@preact/signals";

type Pair = [string, string]; // on light, on dark ground

const TRANSPORTS: Record<string, Pair> = {
  posix: ["#3a6fd8", "#6b9bf2"],
  sysv: ["#7aa7ea", "#a5c6f8"],
  xpmem: ["#1d4893", "#4a78cc"],
  self: ["#8b94a1", "#8f99a8"],
  cma: ["#0e9384", "#31c3b2"],
  knem: ["#5cb8a0", "#8adcc8"],
  tcp: ["#dd7f12", "#f2a444"],
  rc: ["#8347c9", "#b184f2"],
  dc: ["#c04a9e", "#e883ca"],
  ud: ["#5b4bc4", "#958af0"],
  cuda_ipc: ["#2f8136", "#57b85f"],
  cuda_copy: ["#94a81a", "#c2d64a"],
  gdr_copy: ["#c9a400", "#ead04e"],
  rocm: ["#7d1f2e", "#b8606f"],
};
const OTHERS: Pair[] = [["#a0624f", "#d39886"], ["#6d7f3f", "#a9bd78"], ["#4f7f95", "#8dbdd2"], ["#9c5578", "#d391b3"]];
const UNKNOWN: Pair = ["#aab1bb", "#5d6672"];

// What MPI calls and UCP operations do; fewer words than there are functions. No transport has these colours.
const GROUPS: [RegExp, Pair][] = [
  [/^MPI_(Wait|Test|I?M?[pP]robe)/, ["#f5c98a", "#e8d9b8"]],
  [/^MPI_Sendrecv/, ["#e6e84a", "#fbff9c"]],
  [/^MPI_I?(b|B|s|S|r|R)?[sS]end|_send$|^MPI_Start|^MPI_Psend/, ["#30d8fc", "#3ce4fc"]],
  [/^MPI_I?[mM]?[rR]ecv|_recv|^MPI_Precv/, ["#a8e4a8", "#c4f5b8"]],
  [/^MPI_(Put|Rput|Accumulate|Raccumulate)|^put|^MPI_Win/, ["#483c3c", "#8a5a4e"]],
  [/^MPI_(Get|Rget)(_acc.*)?$|^get/, ["#6c540c", "#a88448"]],
  [/^(atomic|amo)|^MPI_(Fetch|Compare)/, ["#60306c", "#8a4f9a"]],
  [/^(flush|fence|ep_close)|Finalize|Init/, ["#b5a68f", "#857a5e"]],
  [/^MPI_/, ["#fcb4f0", "#f6c8f4"]],
];
const WAITING: Pair = ["#e5352b", "#ff5c50"];
const ANY_CALL: Pair = ["#56627a", "#a7b1c2"];

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", () => (systemDark.value = system.matches));

export type Theme = "auto" | "light" | "dark";
export const theme = signal<Theme>("auto");
export const printing = signal(false);
export const dark = computed(
  () => !printing.value && (theme.value === "auto" ? systemDark.value : theme.value === "dark"),
);

function pick(pair: Pair): string {
  return pair[dark.value ? 1 : 0];
}

function hash(text: string): number {
  let out = 0;
  for (let i = 0; i < text.length; i++) out = (out * 31 + text.charCodeAt(i)) | 0;
  return Math.abs(out);
}

export function transportColour(name: string | null): string {
  if (!name || name === "unknown") return pick(UNKNOWN);
  const family = TRANSPORTS[name] ?? TRANSPORTS[name.replace(/_.*/, "")];
  return pick(family ?? OTHERS[hash(name) % OTHERS.length]);
}

export function waitingColour(): string {
  return pick(WAITING);
}

// Time in MPI calls, whatever they do.
export function mpiColour(): string {
  return pick(ANY_CALL);
}

// The meaning of the colours of functions and operations, for a legend.
export const ACTIONS: [string, string][] = [
  ["send", "MPI_Send"], ["receive", "MPI_Recv"], ["send and receive", "MPI_Sendrecv"], ["wait, test, probe", "MPI_Wait"], ["put", "MPI_Put"],
  ["get", "MPI_Get"], ["atomic", "atomic"], ["collective or other MPI", "MPI_Allreduce"], ["flush, set-up", "flush"],
];

const actions = new Map<string, Pair>();

export function actionColour(name: string | null): string {
  if (!name) return pick(UNKNOWN);
  let pair = actions.get(name);
  if (!pair) actions.set(name, (pair = GROUPS.find(([pattern]) => pattern.test(name))?.[1] ?? UNKNOWN));
  return pick(pair);
}

// Black or white, whichever is read more easily on a colour (#rrggbb): WCAG 2's relative luminance.
export function inkOn(colour: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000000" : "#ffffff";
}

const resolved = new Map<string, string>();

// A colour of the style sheet, for canvases.
export function styleColour(name: string): string {
  const key = `${name}/${dark.value}`;
  let colour = resolved.get(key);
  if (!colour) {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    resolved.set(key, (colour = getComputedStyle(probe).color));
    probe.remove();
  }
  return colour;
}
