// SPDX-License-Identifier: BSD-3-Clause
// The timeline against single events: walked with the keys, each step is an event of the export.
import assert from "node:assert/strict";
import { at, GUTTER, NAME_ROW, pixels } from "./summary.mjs";

const STEPS = 12;

async function chosen(view) {
  const row = view.page.locator(".details tr.chosen");
  await row.waitFor();
  const [, layer, what] = (await row.locator("td").allInnerTexts()).map((text) => text.trim());
  return { layer, what };
}

// The first calls of the first process, in order, then in to the layers of one and over to its other end.
export async function timeline(view, events, report) {
  await view.show("view=timeline");
  const canvas = view.page.locator(".tracks canvas");
  await canvas.waitFor();
  const first = [...report.processes].sort((a, b) => a.host - b.host || (a.rank ?? 1e9) - (b.rank ?? 1e9) || a.id - b.id)[0].id;
  const calls = events.filter((e) => e.event === "call" && e.process === first).sort((a, b) => a.start - b.start);
  await canvas.focus();
  for (const call of calls.slice(0, STEPS)) {
    await canvas.press("n");
    const { layer, what } = await chosen(view);
    assert.deepEqual([layer, what], ["MPI", call.function], `the call at ${call.start}`);
  }
  await partner(view, canvas, events, calls);
  await dimmed(view, events, calls);
}

// A filter of transfers leaves calls that caused some as they are, and dims the others.
async function dimmed(view, events, calls) {
  const transfers = events.filter((e) => e.event === "transfer" && e.kind === "data");
  const causes = new Set(transfers.map((e) => e.caused_by));
  const causing = new Set(events.filter((e) => e.event === "op" && causes.has(e.id)).map((e) => e.call));
  const begin = Math.min(...events.filter((e) => ["call", "op", "transfer"].includes(e.event)).map((e) => e.start));
  const middle = async (call, filter) => {
    const [from, to] = [call.start - begin, call.end - begin];
    await at(view, from, to, filter);
    const row = (await pixels(view, NAME_ROW)).slice(GUTTER);
    return row[Math.floor(0.8 * row.length)];
  };
  const longest = (list) => list.filter((e) => e.end).sort((a, b) => b.end - b.start - a.end + a.start)[0];
  for (const caused of [true, false]) {
    const call = longest(calls.filter((e) => causing.has(e.id) === caused));
    const [plain, filtered] = [await middle(call, ""), await middle(call, `&transport=${transfers[0].transport}`)];
    assert.equal(plain === filtered, caused, `${call.function} at ${call.start}: ${plain}, ${filtered} with the filter`);
  }
}

async function partner(view, canvas, events, calls) {
  const messages = new Map(events.filter((e) => e.event === "message").map((e) => [e.send, e]));
  const ops = events.filter((e) => e.event === "op");
  const sends = ops.filter((op) => messages.has(op.id) && op.call !== null && calls.some((call) => call.id === op.call));
  assert.ok(sends.length, "a process that sent a message");
  const op = sends[0];
  const at = calls.findIndex((call) => call.id === op.call);
  for (let i = Math.min(STEPS, calls.length); i <= at; i++) await canvas.press("n");
  for (let i = Math.min(STEPS, calls.length); i > at + 1; i--) await canvas.press("p");
  assert.equal((await chosen(view)).what, calls[at].function);
  const rows = await view.page.locator(".details tbody tr").allInnerTexts();
  const receive = ops.find((other) => other.id === messages.get(op.id).recv);
  assert.ok(rows.some((row) => row.includes("UCP") && row.includes(op.op)), `its operation ${op.op}`);
  const end = rows.findIndex((row) => row.startsWith("other end"));
  assert.ok(end > 0, "the other end is listed");
  assert.ok(rows.slice(end).some((row) => row.includes("UCP") && row.includes(receive.op)), `the other end's ${receive.op}`);
  await canvas.focus();
  await canvas.press("l");
  assert.deepEqual(await chosen(view), { layer: "UCP", what: receive.op });
}
