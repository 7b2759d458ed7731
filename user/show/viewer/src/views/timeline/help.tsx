// SPDX-License-Identifier: BSD-3-Clause
// The keys and gestures of the timeline, in a dialog.
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

const open = signal(false);

export function openHelp() {
  open.value = true;
}

const KEYS: [string, string][] = [
  ["W, S, + and −", "zoom in, zoom out"], ["A, D, ← and →", "move"], ["F", "fit the chosen event, else the chosen time, else all"],
  ["0", "the whole run"], ["/", "search for a function, a call site or a rank; Enter goes to the next one, shift and Enter to the one before"],
  ["N, P", "next and previous event"], ["I, O", "in to and out of its layers"], ["L", "its other end"],
  ["Escape", "let go of the event, then of the time, then of the marked rank"], ["?", "this list"],
  ["click", "choose an event"], ["double click", "zoom to the event, or in"], ["drag", "move, or choose a time, as the button above says; with shift, choose a time"],
  ["Ctrl and wheel", "zoom"], ["shift and wheel", "move"], ["the strip above the tracks", "drag to another part of the run"],
  ["a click on the name of a host", "fold it"],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open.value && !dialog.current!.open) dialog.current!.showModal();
    if (!open.value && dialog.current!.open) dialog.current!.close();
  }, [open.value]);
  return (
    <dialog ref={dialog} class="help" aria-label="Keys of the timeline" onClose={() => (open.value = false)}>
      <h2>Keys of the timeline</h2>
      <dl class="pairs">{KEYS.map(([key, words]) => [<dt>{key}</dt>, <dd>{words}</dd>])}</dl>
      <button type="button" class="button" onClick={() => (open.value = false)}>Close</button>
    </dialog>
  );
}
