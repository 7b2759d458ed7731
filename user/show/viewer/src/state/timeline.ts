// SPDX-License-Identifier: BSD-3-Clause
// The timeline is decoded when it is first needed, then kept.
import { batch, signal } from "@preact/signals";
import { Timeline } from "../data/timeline";
import { chosen, model, option, options, setOption, view } from "./state";

export const timeline = signal<Timeline | null>(null);
export const failure = signal("");

let asked = false;

export function wantTimeline() {
  if (asked) return;
  asked = true;
  model.inflateTimeline()
    .then(() => (timeline.value = new Timeline(model)))
    .catch((error: Error) => (failure.value = `The timeline cannot be shown: ${error.message}`));
}

// The process that is marked there: its code, or null.
export function markedProcess(): number | null {
  const code = Number(option("timeline.process", "-1")) + 1;
  return model.process(code) && code;
}

export function mark(code: number | null) {
  setOption("timeline.process", code === null ? "-1" : `${code - 1}`);
}

// The process in the timeline, whatever was filtered, folded or in sight there.
export function lookAt(code: number) {
  batch(() => {
    const next = new Map(options.value);
    for (const name of ["timeline.at", "timeline.folded"]) next.delete(name);
    options.value = next;
    chosen.value = new Map([...chosen.value].filter(([id]) => id !== "process" && id !== "host"));
    mark(code);
    view.value = "timeline";
  });
}
