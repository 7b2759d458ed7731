#!/usr/bin/env node
// SPDX-License-Identifier: BSD-3-Clause
// usage: measure.mjs PAGE   how fast a page of `export -f html` opens and answers, as JSON, in ms
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { VIEWS, withBrowser } from "../../viewer/browser.mjs";

const PROBE = join(dirname(fileURLToPath(import.meta.url)), "probe.js");
const OPENINGS = 5;
const ACTIONS = 40; // of each sort

async function open(browser, path, fragment = "") {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  page.setDefaultTimeout(60000);
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

function follow(page, links) {
  return page.evaluate(async (all) => {
    const out = [];
    for (const link of all) out.push(await probe.act(() => (location.hash = link)));
    return out;
  }, links);
}

// Keys and the wheel on a view's drawing.
function move(page, selector, events) {
  return page.evaluate(async ([where, list]) => {
    const out = [];
    for (const { wheel, key } of list) {
      const element = document.querySelector(where);
      const box = element.getBoundingClientRect();
      const at = { clientX: box.left + 0.6 * box.width, clientY: box.top + box.height / 2, bubbles: true, cancelable: true };
      const event = key ? new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }) : new WheelEvent("wheel", { ...at, ...wheel });
      out.push(await probe.act(() => element.dispatchEvent(event)));
    }
    return out;
  }, [selector, events]);
}

const repeat = (some) => Array.from({ length: ACTIONS }, (_, i) => some[i % some.length]);
// In far and out again; to and fro at each depth.
const ZOOM = repeat([...Array(16).fill({ wheel: { ctrlKey: true, deltaY: -300 } }), ...Array(16).fill({ wheel: { ctrlKey: true, deltaY: 300 } })]);
const PAN = repeat([
  { wheel: { ctrlKey: true, deltaY: -300 } }, ...Array(3).fill({ wheel: { shiftKey: true, deltaY: 200 } }), ...Array(4).fill({ wheel: { shiftKey: true, deltaY: -200 } }),
]);
const KEYS = { zoom: repeat(["+", "+", "+", "-", "-", "-"]).map((key) => ({ key })), pan: repeat(["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown"]).map((key) => ({ key })) };

async function measure(browser, path) {
  const actions = {};
  const opened = await openings(browser, path);
  const { page } = await open(browser, path);
  const links = await page.evaluate(filters, ACTIONS);
  for (const name of VIEWS) {
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

await withBrowser(async (browser) => console.log(JSON.stringify({ version: browser.version(), ...(await measure(browser, process.argv[2])) })));
