// SPDX-License-Identifier: BSD-3-Clause
// Filters by hand: a facet's box, a click in a table, a range of time, keys; the link has their effect.
import assert from "node:assert/strict";
import { count, ofKind, sums } from "./expected.mjs";

async function transfers(view) {
  const rows = await view.table("table-paths");
  return rows.reduce((sum, row) => ({ count: sum.count + Number(row.Count), bytes: sum.bytes + Number(row.Bytes) }), { count: 0, bytes: 0 });
}

function total(rows) {
  const all = sums(rows, () => "all", ["count", "bytes"]).get("all");
  return all ?? { count: 0, bytes: 0 };
}

export async function controls(view, report) {
  const { page } = view;
  const data = ofKind(report, "data");
  const { transport } = data[0];
  await view.show("view=tables");
  assert.deepEqual(await transfers(view), total(data));
  await page.locator("[data-facet=transport] label", { hasText: transport }).first().click();
  assert.ok((await view.fragment()).includes(`transport=${transport}`), "the link has the filter");
  assert.deepEqual(await transfers(view), total(data.filter((row) => row.transport === transport)));
  await page.getByRole("button", { name: "Remove the filter Transport" }).click();
  assert.deepEqual(await transfers(view), total(data));
  await page.getByRole("radio", { name: "Control" }).click();
  assert.deepEqual(await transfers(view), total(ofKind(report, "control")));
  await page.getByRole("radio", { name: "Data", exact: true }).click();
  await page.locator("#table-pairs tbody tr").first().click();
  const chips = await page.locator(".chip").allInnerTexts();
  assert.ok(chips.some((text) => text.startsWith("From process")) && chips.some((text) => text.startsWith("To process")), "a pair's filter");
  await page.getByRole("button", { name: "Clear all" }).first().click();
  await upward(view, report, data);
  await sizes(view, data);
  await page.locator("#tab-tables").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("[role=tab][aria-selected=true]").innerText(), "Hosts");
  const { overflow } = await page.evaluate(() => ({ overflow: document.documentElement.scrollWidth - innerWidth }));
  assert.ok(overflow <= 0, "the page is no wider than its window");
}

// A click on a path selects the calls that caused its bytes; where nothing passes, the page says so and lists the values that would.
async function upward(view, report, data) {
  const { page } = view;
  await view.show("view=tables");
  await page.locator("#table-paths tbody tr .pick").first().click();
  await view.settled();
  const [row] = data.sort((a, b) => b.bytes - a.bytes);
  const paths = await view.table("table-paths");
  const moved = (await view.table("table-functions")).reduce((sum, one) => sum + Number(one["Selected bytes"]), 0);
  assert.equal(paths.length, new Set(paths.map((path) => path.Locality)).size, "one path is chosen");
  assert.equal(moved, paths.reduce((sum, path) => sum + Number(path.Bytes), 0), "all its bytes have a call that caused them, or none did");
  const other = data.find((one) => !data.some((same) => same.transport === row.transport && same.op === one.op));
  await view.show(`view=tables&transport=${row.transport}&op=${other.op}`);
  const said = await view.text("#selected");
  assert.ok(said.startsWith("Nothing passes the filters. With the other filters there is:"), said);
  assert.ok(said.includes(`Transport: ${other.transport}`) && said.includes(`UCT operation: ${row.op}`), `${said}: what there is`);
  for (const id of ["table-functions", "table-ops"]) assert.deepEqual(await view.table(id), [], `${id} is empty`);
  await view.show("view=tables");
  assert.equal(await page.locator("#selected").count(), 0, "without filters there is nothing to say");
}

// Small and large are everything; one size chosen by hand is what its line says.
async function sizes(view, data) {
  const codes = (from, to) => Array.from({ length: to - from }, (_, i) => from + i).join();
  let sum = 0;
  for (const [from, to] of [[0, 12], [12, 66]]) {
    await view.show(`view=tables&size=${codes(from, to)}`);
    const part = (await transfers(view)).count;
    assert.ok(part > 0 && part < total(data).count, `sizes ${from} to ${to}: ${part}`);
    sum += part;
  }
  assert.equal(sum, total(data).count, "the sizes' sums are the whole");
  await view.show("view=tables&by=count&open.facets=size");
  const line = view.page.locator("[data-facet=size] label").nth(1);
  await view.settled();
  const amount = await line.locator(".amount").innerText();
  await line.click();
  assert.equal(count((await transfers(view)).count), amount, "one size");
}

async function drag(view, from, to) {
  const place = view.page.locator(".strip .over");
  await place.scrollIntoViewIfNeeded();
  const box = await place.boundingBox();
  const y = box.y + box.height / 2;
  await view.page.mouse.move(box.x + from * box.width, y);
  await view.page.mouse.down();
  await view.page.mouse.move(box.x + ((from + to) / 2) * box.width, y);
  await view.page.mouse.move(box.x + to * box.width - 1, y);
  await view.page.mouse.up();
}

// A range drawn in the strip and the time before it add up to everything.
export async function timeRange(view, report) {
  await view.show("view=tables");
  await drag(view, 0.8, 1);
  const range = /time=(\d+)-(\d+)/.exec(await view.fragment());
  assert.ok(range, "the link has the range");
  const { buckets } = await view.page.evaluate(() => JSON.parse(document.getElementById("directory").textContent).time);
  assert.equal(Number(range[2]), buckets, "the range ends with the run");
  const inside = await transfers(view);
  await view.load(`view=tables&time=0-${range[1]}`);
  const before = await transfers(view);
  const data = total(ofKind(report, "data"));
  assert.ok(inside.count > 0 && inside.count < data.count, `a part: ${inside.count} of ${data.count}`);
  assert.deepEqual({ count: inside.count + before.count, bytes: inside.bytes + before.bytes }, data);
  await view.show(`view=timeline&time=${range[1]}-${range[2]}`);
  await view.page.locator(".tracks canvas").focus();
  await view.page.keyboard.press("Escape");
  assert.ok(!(await view.fragment()).includes("time="), "escape lets go of the range");
}
