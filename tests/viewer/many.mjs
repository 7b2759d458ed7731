// SPDX-License-Identifier: BSD-3-Clause
// A page of 1,024 processes on 64 hosts: a row of pixels for each, their order, folding; the matrix enlarged; the graph by hosts.
import assert from "node:assert/strict";
import { count } from "./expected.mjs";

const GUTTER = 172; // px left of the tracks
const AXIS = 24; // px above them

async function open(view, fragment) {
  await view.load(fragment);
  await view.page.locator(".tracks canvas").waitFor();
  await view.settled();
}

// The rank in the box under the pointer, in the row that many pixels below the axis.
async function rowAt(view, y) {
  const box = await view.page.locator(".tracks canvas").boundingBox();
  await view.page.mouse.move(box.x + GUTTER + 30, box.y + AXIS + y);
  const tip = view.page.locator(".tip");
  await tip.waitFor();
  return /rank (\d+),/.exec(await tip.innerText())?.[1];
}

async function rows(view, processes) {
  const { page } = view;
  await open(view, "view=timeline&timeline.group=none");
  const height = await page.locator(".tracks .spacer").evaluate((element) => element.clientHeight);
  assert.equal(height, AXIS + processes + 2, "a pixel each");
  for (const rank of [0, 7, 200]) assert.equal(await rowAt(view, rank + 0.5), `${rank}`, "by rank");
  await view.show("view=overview");
  const sent = (await view.table("processes")).map((row) => [row.Rank, Number(row.Sent)]).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  await open(view, "view=timeline&timeline.group=none&timeline.sort=bytes");
  for (const at of [0, 1, 100]) assert.equal(await rowAt(view, at + 0.5), sent[at][0], "by the bytes that they sent");
  await open(view, "view=timeline");
  assert.equal(await rowAt(view, 18 + 3.5), "19", "by hosts: 16 of each, and a line between them");
}

async function fold(view) {
  const { page } = view;
  const height = () => page.locator(".tracks .spacer").evaluate((element) => element.clientHeight);
  await open(view, "view=timeline&timeline.rows=layers");
  const open_ = await height();
  const box = await page.locator(".tracks canvas").boundingBox();
  await page.mouse.click(box.x + 20, box.y + AXIS + 12);
  assert.match(await view.fragment(), /timeline\.folded=h0/);
  const folded = await height();
  assert.ok(folded < open_ - 300, `the first host's processes are folded: ${folded} of ${open_} px`);
  await page.mouse.click(box.x + 20, box.y + AXIS + 12);
  await view.settled();
  assert.equal(await height(), open_, "and unfolded");
  await page.getByRole("button", { name: "Fold all" }).click();
  await view.settled();
  const low = await height();
  assert.ok(low < open_ / 4, `all are: ${low} of ${open_} px`);
}

async function matrix(view, processes) {
  const { page } = view;
  const canvas = page.locator(".matrix-plot canvas");
  const said = () => page.locator(".matrix-plot [aria-live]").innerText();
  await view.load("view=matrix");
  await view.settled();
  await canvas.focus();
  for (let i = 0; i < 3; i++) await canvas.press(i ? "ArrowRight" : "ArrowDown");
  const whole = await said();
  assert.match(await canvas.getAttribute("aria-label"), new RegExp(`${processes} senders`));
  await view.show("view=matrix&matrix.zoom=0-40-0-40");
  await canvas.focus();
  await canvas.press("Escape");
  assert.match(await canvas.getAttribute("aria-label"), /40 senders and 40 receivers/);
  await page.mouse.move(2, 2);
  for (let i = 0; i < 3; i++) await canvas.press(i ? "ArrowRight" : "ArrowDown");
  assert.equal(await said(), whole, "the same pair in the part as in the whole");
  await view.load("view=matrix&matrix.by=process");
  await view.settled();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 200, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 230, box.y + 240);
  await page.mouse.move(box.x + 260, box.y + 280);
  await page.mouse.up();
  const zoom = /matrix\.zoom=(\d+)-(\d+)-(\d+)-(\d+)/.exec(await view.fragment());
  assert.ok(zoom, "a drawn box is enlarged");
  const [top, bottom, left, right] = zoom.slice(1).map(Number);
  assert.deepEqual([bottom - top, right - left], [81, 61], "to its rows and columns");
  await page.getByRole("button", { name: "Whole matrix" }).click();
  assert.ok(!/matrix\.zoom=\d/.test(await view.fragment()), "and back");
}

async function graph(view, hosts) {
  const nodes = async () => /(\d[\d,]*) nodes/.exec(await view.page.locator(".graph canvas").getAttribute("aria-label"))[1];
  await view.load("view=graphs");
  await view.settled();
  assert.equal(await nodes(), count(2 * hosts), "of each host its frame, and one node in it");
  assert.equal(await view.page.getByRole("radio", { name: "Hosts", exact: true }).getAttribute("aria-checked"), "true");
}

// In the order of their waiting, as the report has it.
export async function byWaiting(view, report) {
  const rank = new Map(report.processes.map(({ id, rank }) => [id, rank]));
  const waited = report.time.map((row) => [rank.get(row.process), row.wait_ns]).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  await open(view, "view=timeline&timeline.group=none&timeline.rows=pixels&timeline.sort=waiting");
  const tall = (await view.page.locator(".tracks .spacer").evaluate((element) => element.clientHeight) - AXIS - 2) / waited.length;
  for (const [at, [rank]] of waited.entries()) assert.equal(await rowAt(view, (at + 0.5) * tall), `${rank}`, "by how long they waited");
}

export async function many(view, processes, hosts) {
  await rows(view, processes);
  await fold(view);
  await matrix(view, processes);
  await graph(view, hosts);
}
