#!/usr/bin/env node
// SPDX-License-Identifier: BSD-3-Clause
// usage: measure.mjs PAGE [VIEW...]   how fast a page of `export -f html` opens and answers, as JSON, in ms
// environment: ACTIONS  how many of each sort (40)
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { VIEWS, withBrowser } from "../../viewer/browser.mjs";

const PROBE = join(dirname(fileURLToPath(import.meta.url)), "probe.js");
const OPENINGS = 5;
const AHEAD = 2000; // ms until the page has made in idle time what first filters need
const ACTIONS = Number(process.env.ACTIONS ?? 40); // of each sort

async function open(browser, path, fragment = "") {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  page.setDefaultTimeout(60000);
  page.cdp = await page.context().newCDPSession(page);
  await page.cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.addInitScript({ path: PROBE });
  await page.goto(`${pathToFileURL(path).href}#${fragment}`, { waitUntil: "commit" });
  const ms = await page.evaluate(() => probe.opened("#view > *"));
  return { page, ms };
}

async function openings(browser, path) {
  const out = [];
  for (let i = 0; i < OPENINGS; i++) {
    const { page, ms } = await open(browser, path);
    out.push(ms);
    await page.context().close();
  }
  return out;
}

// Filters of every sort that the data have, one after the other, as links within the page.
function filters(most) {
  const value = (list, i) => list[i % list.length];
  const values = (id) => [...document.querySelectorAll(`[data-facet=${id}] li .name`)].map((e) => encodeURIComponent(e.textContent));
  const [transports, ops, functions, devices] = ["transport", "op", "function", "device"].map(values);
  const { buckets } = JSON.parse(document.getElementById("directory").textContent).time;
  const processes = Math.max(1, Number(document.querySelector("#processes .note")?.textContent.match(/of ([\d,]+)/)?.[1].replace(/,/g, "") ?? 2));
  const out = [];
  for (let i = 0; out.length < most; i++) {
    const from = Math.floor((buckets * ((i * 7) % 60)) / 100);
    out.push(
      `process=${(i * 37) % processes}`, "", `time=${from}-${from + Math.ceil(buckets / 4)}`,
      transports.length ? `transport=${value(transports, i)}` : "by=count", "by=count",
      functions.length ? `function=${value(functions, i)}` : "", `size=${[5, 6, 7, 8, 9].map((n) => n + i).join()}`,
      ops.length ? `op=${value(ops, i)}` : "kind=control", "kind=control", devices.length ? `device=${value(devices, i)}` : "",
      `process=${[1, 2, 3].map((n) => (i + n) % processes).join()}&by=count`, "",
    );
  }
  return out;
}

// CPU time of the page's main thread, ms.
async function cpu(page) {
  const { metrics } = await page.cdp.send("Performance.getMetrics");
  return 1e3 * metrics.find(({ name }) => name === "ThreadTime").value;
}

// Each action with the CPU time that it took, less what waiting as long takes.
async function acts(page, run, list) {
  const out = [];
  for (const what of list) {
    const start = await cpu(page);
    const { waited, ...shown } = await page.evaluate(run, what);
    const used = (await cpu(page)) - start;
    out.push({ ...shown, cpu: Math.max(0, used - (page.idle ?? 0) * waited), used: used / waited });
  }
  return out;
}

// CPU time for each ms of doing nothing: frames and the probe itself.
async function idle(page) {
  const all = await acts(page, () => probe.act(() => {}), Array(9).fill(null));
  return all.map((one) => one.used).sort((a, b) => a - b)[4];
}

const follow = (page, links) => acts(page, (link) => probe.act(() => (location.hash = link)), links);

// Keys and the wheel on a view's drawing.
function move(page, selector, events) {
  const run = ({ where, wheel, key }) => {
    const element = document.querySelector(where);
    const box = element.getBoundingClientRect();
    const at = { clientX: box.left + 0.6 * box.width, clientY: box.top + box.height / 2, bubbles: true, cancelable: true };
    const event = key ? new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }) : new WheelEvent("wheel", { ...at, ...wheel });
    return probe.act(() => element.dispatchEvent(event));
  };
  return acts(page, run, events.map((event) => ({ ...event, where: selector })));
}

const repeat = (some) => Array.from({ length: ACTIONS }, (_, i) => some[i % some.length]);
// In far and out again; to and fro at each depth.
const ZOOM = repeat([...Array(16).fill({ wheel: { ctrlKey: true, deltaY: -300 } }), ...Array(16).fill({ wheel: { ctrlKey: true, deltaY: 300 } })]);
const PAN = repeat([
  { wheel: { ctrlKey: true, deltaY: -300 } }, ...Array(3).fill({ wheel: { shiftKey: true, deltaY: 200 } }), ...Array(4).fill({ wheel: { shiftKey: true, deltaY: -200 } }),
]);
const KEYS = { zoom: repeat(["+", "+", "+", "-", "-", "-"]).map((key) => ({ key })), pan: repeat(["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"]).map((key) => ({ key })) };

async function measure(browser, path, views) {
  const actions = {};
  const opened = await openings(browser, path);
  const { page } = await open(browser, path);
  const links = await page.evaluate(filters, ACTIONS);
  await page.waitForTimeout(AHEAD);
  page.idle = await idle(page);
  for (const name of views.length ? views : VIEWS) {
    const link = (text) => [`view=${name}`, text].filter(Boolean).join("&");
    await follow(page, [link("")]);
    await follow(page, [link("by=count"), link("")]); // what is decoded or compiled once
    if (name === "timeline") {
      actions["timeline: zoom"] = await move(page, ".tracks canvas", ZOOM);
      actions["timeline: pan"] = await move(page, ".tracks canvas", PAN);
    }
    if (name === "graphs")
      for (const [what, keys] of Object.entries(KEYS)) actions[`graphs: ${what}`] = await move(page, ".graph", keys);
    actions[`${name}: filter`] = await follow(page, links.map(link));
  }
  return { opened, links, actions };
}

await withBrowser(async (browser) => console.log(JSON.stringify({ version: browser.version(), ...(await measure(browser, process.argv[2], process.argv.slice(3))) })));
