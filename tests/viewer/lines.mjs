// SPDX-License-Identifier: BSD-3-Clause
// The messages of a chosen time are lines over the tracks: when and where each begins and ends, by the calls that draw it.
import assert from "node:assert/strict";
import { GUTTER } from "./summary.mjs";

const MOST = 400; // as the panel says

// From now on each canvas keeps the curves that it has had since it was last empty, as [x1, y1, x2, y2].
function keepCurves() {
  const { prototype } = CanvasRenderingContext2D;
  const { clearRect, moveTo, bezierCurveTo } = prototype;
  let start;
  Object.assign(prototype, {
    clearRect(...args) {
      this.canvas.curves = [];
      clearRect.apply(this, args);
    },
    moveTo(...args) {
      start = args;
      moveTo.apply(this, args);
    },
    bezierCurveTo(...args) {
      this.canvas.curves?.push([...start, ...args.slice(4)]);
      bezierCurveTo.apply(this, args);
    },
  });
}

async function drawn(view, fragment) {
  await view.load(`view=timeline&${fragment}`);
  await view.page.locator("#range-stats").waitFor();
  await view.settled();
  return view.page.locator("canvas.marks").evaluate(({ curves, clientWidth }) => ({ curves, width: clientWidth }));
}

// What the first frame after a link has of it.
async function firstFrame(view, fragment) {
  await view.load("view=timeline");
  await view.page.locator(".tracks canvas").waitFor();
  await view.settled();
  return view.page.evaluate(async (text) => {
    const followed = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    location.hash = text;
    await followed;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const [marks, strip] = ["canvas.marks", ".minimap canvas"].map((name) => document.querySelector(name));
    const numbers = document.querySelectorAll("#range-stats td.num").length;
    return { numbers: numbers > 0, curves: marks.curves.length, strip: Math.round(strip.width / devicePixelRatio) === strip.clientWidth };
  }, fragment);
}

const TIP = 5; // px before the arrival: the arrow's head

// Each line, by its times, is a message's, and its ends lie at the ranks that sent it and got it.
function agree({ curves, width }, messages, partOf, what) {
  const xOf = (ns) => GUTTER + partOf(ns) * (width - GUTTER);
  const byTimes = (a, b) => a[0] - b[0] || a[1] - b[1];
  const wanted = messages.map((m) => [xOf(m.send_start), xOf(m.arrival) - TIP, m.from, m.to]).sort(byTimes);
  const lines = curves.map(([x1, y1, x2, y2]) => [x1, x2, y1, y2]).sort(byTimes);
  assert.equal(lines.length, wanted.length, `${what}: as many lines as messages`);
  const heights = new Map(); // by rank, of the ends of lines
  for (const [i, [x1, x2, ...ranks]] of wanted.entries()) {
    const [from, to, ...ends] = lines[i];
    assert.ok(Math.abs(from - x1) < 0.01 && Math.abs(to - x2) < 0.01, `${what}: from ${from} to ${to}, not ${x1} to ${x2}`);
    ranks.forEach((rank, end) => heights.set(rank, [...(heights.get(rank) ?? []), ends[end]]));
  }
  const order = [...heights.keys()].sort((a, b) => a - b);
  for (const [above, below] of order.slice(1).map((rank, i) => [order[i], rank]))
    assert.ok(Math.max(...heights.get(above)) < Math.min(...heights.get(below)), `${what}: lines of rank ${above} end above those of ${below}`);
}

// Takes a capture of one host.
export async function lines(view, events) {
  await view.page.addInitScript(keepCurves);
  const begin = Math.min(...events.filter((e) => ["call", "op", "transfer"].includes(e.event)).map((e) => e.start));
  const ranks = new Map(events.filter((e) => e.event === "process").map((e) => [e.id, e.rank]));
  const messages = events.filter((e) => e.event === "message" && e.send !== null && e.recv !== null)
    .map((e) => ({ ...e, from: ranks.get(e.src), to: ranks.get(e.dst) }));
  const { bucket_ns, buckets, hosts } = await view.page.evaluate(() => JSON.parse(document.getElementById("directory").textContent).time);
  const within = (at) => begin + hosts[0].zero_ns + at * bucket_ns;
  const sent = (from, to) => messages.filter((m) => m.send_start >= within(from) && m.send_start < within(to));
  const [first, last] = [1150, 1200];
  const sight = [first, last].map((at) => Math.round(within(at) - begin));
  const partOf = (ns) => (ns - begin - sight[0]) / (sight[1] - sight[0]);
  const some = sent(first, last);
  const fragment = `time=${first}-${last}&timeline.at=${sight.join("-")}`;
  assert.ok(some.length > 20 && some.length < MOST, `${some.length} messages to be drawn`);
  agree(await drawn(view, fragment), some, partOf, "a chosen time");
  assert.deepEqual(await firstFrame(view, `view=timeline&${fragment}`), { numbers: true, curves: some.length, strip: true }, "in one frame");
  const called = some[0].function;
  agree(await drawn(view, `${fragment}&function=${called}`), some.filter((m) => m.function === called), partOf, called);
  assert.ok(sent(0, buckets).length > MOST);
  assert.equal((await drawn(view, `time=0-${buckets}`)).curves.length, MOST, "no more than the panel says");
  assert.match(await view.text("#range-stats"), new RegExp(`at most ${MOST}`));
}
