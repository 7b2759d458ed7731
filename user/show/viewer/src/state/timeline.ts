// SPDX-License-Identifier: BSD-3-Clause
// The timeline is decoded when it is first needed, then kept.
import { signal } from "@preact/signals";
import { Timeline } from "../data/timeline";
import { model } from "./state";

export const timeline = signal<Timeline | null>(null);
export const failure = signal("");

let asked = false;

export function wantTimeline() {
  if (asked) return;
  asked = true;
  setTimeout(() => {
    try {
      timeline.value = new Timeline(model);
    } catch (error) {
      failure.value = `The timeline cannot be shown: ${(error as Error).message}`;
    }
  });
}
