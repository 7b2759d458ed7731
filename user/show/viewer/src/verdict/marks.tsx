// SPDX-License-Identifier: BSD-3-Clause
// A verdict in a word and a sign: colour alone tells nobody.
import { State } from "./data";

export const WORDS: Record<State, string> = {
  critical: "Critical", warning: "Warning", info: "Info", unknown: "Unknown", waived: "Waived", pass: "Pass", skip: "Skip",
};
export const SIGNS: Record<State, string> = {
  critical: "✗", warning: "!", info: "i", unknown: "?", waived: "w", pass: "✓", skip: "·",
};

export function Mark({ state }: { state: State }) {
  return <span class={`mark ${state}`}><span aria-hidden="true">{SIGNS[state]}</span> {WORDS[state]}</span>;
}
