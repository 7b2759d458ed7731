// SPDX-License-Identifier: BSD-3-Clause
// What is not known, below every view.
import { unknowns } from "../data/unknown";
import { model } from "../state/state";

export function Status() {
  return (
    <footer class="foot" aria-label="Not known">
      <b>Not known</b>
      {unknowns(model).map((item) => (
        <span id={`status-${item.id}`} class={item.fine ? "ok" : "off"} title={item.reasons.map((r) => r.join(": ")).join("\n")}>
          {item.label.toLowerCase()}: {item.text}
        </span>
      ))}
    </footer>
  );
}
