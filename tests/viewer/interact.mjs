// SPDX-License-Identifier: BSD-3-Clause
// The timeline by hand: keys, search, the strip above it, a chosen time with its statistics, the box under the pointer, Back.
import assert from "node:assert/strict";
import { count } from "./expected.mjs";

const GUTTER = 172; // px left of the tracks
const AXIS = 24; // px above them

async function open(view, rest = "") {
  await view.load(`view=timeline${rest}`);
  await view.page.locator(".tracks canvas").waitFor();
  await view.settled();
}

// The part in sight, once the link has it.
async function sight(view) {
  await view.page.waitForTimeout(350);
  const found = /timeline\.at=(-?\d+)-(\d+)/.exec(await view.fragment());
  return found ? [Number(found[1]), Number(found[2])] : null;
}

const length = ([from, to]) => to - from;
const chosen = (view) => view.page.locator(".details tr.chosen td").nth(2).innerText();

async function keys(view) {
  const { page } = view;
  await open(view, "&timeline.at=250000000-350000000");
  await page.locator("h1").click(); // nowhere near the tracks
  await page.keyboard.press("w");
  const near = await sight(view);
  assert.ok(length(near) < 0.7e8, `W zooms in: ${near}`);
  await page.keyboard.press("s");
  assert.ok(Math.abs(length(await sight(view)) - 1e8) < 1e6, "S zooms out again");
  const before = await sight(view);
  await page.keyboard.press("d");
  const right = await sight(view);
  assert.ok(right[0] > before[0] && right[1] > before[1], "D moves on");
  await page.keyboard.press("a");
  assert.ok((await sight(view))[0] < right[0], "A moves back");
  await page.keyboard.press("?");
  await page.locator("dialog.help[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog.help[open]").waitFor({ state: "hidden" });
}

async function find(view, events) {
  const { page } = view;
  await open(view);
  await page.keyboard.press("/");
  await page.keyboard.type("alltoall");
  const wanted = events.filter((e) => e.event === "call" && e.function === "MPI_Alltoall");
  const status = page.locator(".tracks-search [role=status]");
  assert.equal(await status.innerText(), `${count(wanted.length)} events`, "as many as there are calls");
  await page.keyboard.press("Enter");
  assert.equal(await chosen(view), "MPI_Alltoall");
  assert.equal(await status.innerText(), `1 of ${count(wanted.length)} events`);
  await page.keyboard.press("Shift+Enter");
  assert.equal(await status.innerText(), `${count(wanted.length)} of ${count(wanted.length)} events`, "round to the last one");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  const [from, to] = await sight(view);
  const first = wanted.sort((a, b) => a.start - b.start)[0];
  assert.ok(length([from, to]) < 1.3 * (first.end - first.start) + 100, "F fits the chosen call");
  const sites = events.filter((e) => e.event === "place" && e.label.startsWith("global_stat"));
  await page.keyboard.press("/");
  await page.keyboard.type("rank 2 global_stat");
  const own = events.filter((e) => e.event === "call" && sites.some((s) => s.id === e.place) && rankOf(events, e.process) === 2);
  assert.equal(await status.innerText(), `${count(own.length)} events`, "of one rank, by call site");
  await page.keyboard.press("Escape");
}

const rankOf = (events, id) => events.find((e) => e.event === "process" && (e.index ?? e.id) === id).rank;

// On the same pixels as the tracks, with a frame around the part in sight.
async function strip(view) {
  const { page } = view;
  await open(view);
  const tracks = await page.locator(".tracks canvas").boundingBox();
  const strip = await page.locator(".strip-box").boundingBox();
  assert.ok(Math.abs(strip.x - tracks.x - GUTTER) <= 1, `aligned at the left: ${strip.x}, ${tracks.x + GUTTER}`);
  assert.ok(Math.abs(strip.x + strip.width - tracks.x - tracks.width) <= 1, "and at the right");
  await page.mouse.move(tracks.x + GUTTER + 0.5 * strip.width, tracks.y + 60);
  for (let i = 0; i < 2; i++) await page.getByRole("button", { name: "Zoom in" }).click();
  const frame = await page.locator(".strip-box .frame").boundingBox();
  assert.ok(Math.abs(frame.width - strip.width / 4) < 3, `a quarter is in sight: ${frame.width} of ${strip.width}`);
  await page.mouse.click(strip.x + 0.8 * strip.width, strip.y + 10);
  await view.settled();
  const moved = await page.locator(".strip-box .frame").boundingBox();
  assert.ok(Math.abs(moved.x + moved.width / 2 - strip.x - 0.8 * strip.width) < 3, "a click brings that part");
}

function within(events, from, to) {
  const out = new Map();
  const waits = events.filter((e) => e.event === "wait");
  for (const call of events.filter((e) => e.event === "call")) {
    if (call.start >= to || Math.max(call.start, call.end ?? 0) < from) continue;
    const row = out.get(call.function) ?? { time: 0, waited: 0 };
    row.time += Math.max(0, Math.min(to, call.end ?? 0) - Math.max(from, call.start));
    let until = from;
    for (const wait of waits.filter((w) => w.call === call.id).sort((a, b) => a.start - b.start)) {
      row.waited += Math.max(0, Math.min(to, wait.end) - Math.max(until, wait.start));
      until = Math.max(until, Math.min(to, wait.end));
    }
    out.set(call.function, row);
  }
  return out;
}

// As the page writes times, to three digits.
function ns(text) {
  const [number, unit] = text.replace(/^[<>~=]+ */, "").split(" ");
  return Number(number) * { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit];
}

async function range(view, events) {
  const { page } = view;
  const { bucket_ns, hosts } = await page.evaluate(() => JSON.parse(document.getElementById("directory").textContent).time);
  await open(view, "&time=1150-1200");
  const begin = Math.min(...events.filter((e) => ["call", "op", "transfer"].includes(e.event)).map((e) => e.start));
  const [from, to] = [1150, 1200].map((at) => begin + hosts[0].zero_ns + at * bucket_ns);
  const wanted = within(events, from, to);
  const rows = await page.locator("#range-functions tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText)));
  assert.deepEqual(rows.map(([name]) => name).sort(), [...wanted.keys()].sort(), "the functions in it");
  for (const [name, time, waited] of rows) {
    const row = wanted.get(name);
    assert.ok(Math.abs(ns(time) - row.time) <= 0.006 * row.time, `${name}: ${time} of ${row.time}`);
    assert.ok(Math.abs(ns(waited) - row.waited) <= 0.006 * row.waited, `${name}: ${waited} waiting of ${row.waited}`);
  }
  const all = await view.page.locator("#range-ranks tbody tr").count();
  assert.equal(all, events.filter((e) => e.event === "process").length);
  await page.keyboard.press("f");
  assert.ok(Math.abs(length(await sight(view)) - 1.2 * (to - from)) < 2, "F fits the chosen time");
}

// A clicked event is beside the tracks in words, and nothing lies over it.
async function pointer(view) {
  const { page } = view;
  await page.setViewportSize({ width: 1280, height: 800 });
  await open(view, "&timeline.at=290000000-310000000");
  const box = await page.locator(".tracks canvas").boundingBox();
  const y = box.y + AXIS + 24 + 4 + 8; // the first process's calls
  const spots = Array.from({ length: 12 }, (_, i) => box.x + GUTTER + 20 + 25 * i);
  for (const x of spots) {
    await page.mouse.move(x, y);
    const tip = await page.locator(".tip").boundingBox().catch(() => null);
    if (tip) assert.ok(tip.y > y + 8 || tip.y + tip.height < y - 8, `the box at ${tip.y} covers its event at ${y}`);
    if (!tip || !(await page.locator(".tip h4").count())) continue;
    const words = await page.locator(".tip").innerText();
    assert.doesNotMatch(words, /^MPI MPI_/, "the layer is in the name");
    assert.ok(words.split("waited").length <= 2, `once: ${words}`);
    await page.mouse.click(x, y);
    await view.settled();
    if (!(await page.locator(".details tr.chosen").count())) continue;
    await page.mouse.move(x + 1, y);
    break;
  }
  const row = await page.locator(".details tr.chosen").boundingBox();
  assert.ok(row.y > 0 && row.y + row.height < 800 && row.x + row.width <= 1280, "its details are in sight");
  const details = await page.locator(".details").boundingBox();
  const tracks = await page.locator(".tracks").boundingBox();
  assert.ok(details.x >= tracks.x + tracks.width, "beside the tracks");
  const name = await chosen(view);
  await page.keyboard.press("Escape");
  await view.settled();
  await page.locator(".tracks canvas").scrollIntoViewIfNeeded();
  assert.ok(name);
  const at = await sight(view);
  await page.mouse.dblclick(box.x + GUTTER + 3, box.y + box.height - 30); // where nothing is
  assert.ok(length(await sight(view)) < length(at), "a double click zooms in");
}

async function back(view) {
  const { page } = view;
  await view.load("");
  const steps = ["Timeline", "Summary", "Tables"];
  for (const name of steps) {
    await page.getByRole("tab", { name }).click();
    await view.fragment();
  }
  await page.locator("[data-facet=transport] label").first().click();
  assert.match(await view.fragment(), /transport=/);
  for (const wanted of ["view=tables", "view=summary", "view=timeline", ""]) {
    await page.goBack();
    await view.settled();
    const now = (await view.fragment()).split("&").filter((part) => !part.split("=")[0].includes(".")).join("&");
    assert.equal(now, wanted, "Back goes a step back within the report");
  }
  await page.goForward();
  assert.match(await view.fragment(), /^view=timeline/);
  assert.equal(await page.locator("[role=tab][aria-selected=true]").innerText(), "Timeline");
}

// All of a small matrix, and the pairs beside it.
async function square(view) {
  await view.page.setViewportSize({ width: 1280, height: 800 });
  await view.load("view=matrix");
  await view.settled();
  const box = await view.page.locator(".matrix-plot canvas").boundingBox();
  const foot = await view.page.locator(".foot").boundingBox();
  assert.ok(box.y + box.height <= foot.y, `down to ${box.y + box.height} of ${foot.y}`);
}

export async function interact(view, events) {
  await keys(view);
  await find(view, events);
  await strip(view);
  await range(view, events);
  await pointer(view);
  await square(view);
  await back(view);
}
