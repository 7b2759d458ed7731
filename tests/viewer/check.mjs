#!/usr/bin/env node
// SPDX-License-Identifier: BSD-3-Clause
// usage: check.mjs CHECK CAPTURE...   what CHECK is: see CHECKS
//        check.mjs shots FOLDER CAPTURE...   those of one page are joined by commas
// environment: UCXBPF, and a folder to write pages to: BATS_TEST_TMPDIR
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { fits, magnified, printed, reports, verdicts } from "./access.mjs";
import { behind, waiting } from "./behind.mjs";
import { Report, VIEWS, withBrowser } from "./browser.mjs";
import { events, replay } from "./expected.mjs";
import { controls, timeRange } from "./controls.mjs";
import { hosts } from "./hosts.mjs";
import { interact } from "./interact.mjs";
import { keys } from "./keys.mjs";
import { lines } from "./lines.mjs";
import { byWaiting, many } from "./many.mjs";
import { names } from "./names.mjs";
import { held, parts, summary } from "./summary.mjs";
import { timeline } from "./timeline.mjs";
import { callersOfText, graphs, matrix, overview, tables } from "./views.mjs";

const UCXBPF = process.env.UCXBPF ?? "build/ucxbpf";
const FOLDER = process.env.BATS_TEST_TMPDIR ?? mkdtempSync(join(tmpdir(), "ucxbpf-viewer-"));
const NUMBERS = { tables, overview, matrix, graphs, summary };

function page(captures) {
  const all = [captures].flat();
  const path = join(FOLDER, `${basename(all[0], ".ucxb")}.html`);
  execFileSync(UCXBPF, ["export", "--format", "html", "-o", path, ...all]);
  return path;
}

// Values that occur, so that no filter is of nothing.
function filters(report) {
  const first = (rows, field) => rows.map((row) => row[field]).find((value) => value !== null && value !== "unknown");
  const { transfers, ops, call_sites } = report;
  const data = transfers.filter((row) => row.kind === "data" && row.count);
  const busy = first(data, "function");
  const out = [["", []], ["kind", ["--kind", "control"]]];
  const add = (name, value, option = name) =>
    value !== undefined && out.push([`${name}=${encodeURIComponent(value)}`, [`--${option}`, `${value}`]]);
  add("transport", first(data, "transport"));
  add("device", first(data, "device"));
  add("op", first(data, "op"));
  add("ucp-op", first(ops, "op"));
  add("protocol", first(data, "protocol"));
  add("function", busy);
  out.push(["process=0", ["--process", "index:0"]]);
  out.push([`host=${encodeURIComponent(report.hosts[0].name)}`, ["--host", report.hosts[0].name]]);
  const site = call_sites?.find((row) => row.function)?.label;
  add("call-site", site);
  if (report.memory) add("memory", first(ops, "memory"));
  if (busy) out.push([`function=${busy}&process=0&op=${data[0].op}`, ["--function", busy, "--process", "index:0", "--op", data[0].op]]);
  return out;
}

// Filters that calls have.
function timeFilters({ hosts, waits }) {
  const out = [["", []], ["process=0", ["--process", "index:0"]], [`host=${encodeURIComponent(hosts[0].name)}`, ["--host", hosts[0].name]]];
  const busy = waits[0]?.function;
  if (busy) out.push([`function=${busy}`, ["--function", busy]], [`function=${busy}&process=1`, ["--function", busy, "--process", "index:1"]]);
  return out;
}

// Tables under each filter; the other views, which add up the same cells, under some.
const SOME = 4;

// Filters of what transfers alone have: with one of these the kind that the page shows is a filter as well, of everything.
const OF_TRANSFERS = ["--transport", "--device", "--op"];

function pageReport(capture, options, kind) {
  const own = options.filter((_, i) => options[i - (i % 2)] !== "--kind");
  if (own.some((option) => OF_TRANSFERS.includes(option))) return replay(UCXBPF, capture, [...own, "--kind", kind]);
  const { transfers, slowest } = replay(UCXBPF, capture, [...own, "--kind", kind]);
  return { ...replay(UCXBPF, capture, own), transfers, slowest };
}

async function numbers(browser, captures, others = ["overview", "matrix", "graphs", "summary"]) {
  const capture = [captures].flat();
  const view = await new Report(browser, page(capture)).open();
  const whole = replay(UCXBPF, capture);
  for (const [i, [fragment, options]] of filters(whole).entries()) {
    const kind = fragment === "kind" ? "control" : "data";
    const report = pageReport(capture, options, kind);
    for (const name of i < SOME || i === filters(whole).length - 1 ? ["tables", ...others] : ["tables"])
      await NUMBERS[name](view, report, fragment === "kind" ? "" : fragment, kind, whole).catch((error) => {
        console.error(`${basename(capture[0])}, ${name}, ${options.join(" ") || "no filter"}`);
        throw error;
      });
  }
  assert.deepEqual(view.complaints, []);
  await view.close();
}

const CHECKS = {
  numbers,
  brief: (browser, list) => numbers(browser, list.split(","), ["graphs"]),
  // Captures that are joined by commas: time, waits and open calls alone.
  async times(browser, list) {
    const captures = list.split(",");
    const view = await new Report(browser, page(captures)).open();
    for (const [fragment, options] of timeFilters(replay(UCXBPF, captures)))
      await summary(view, replay(UCXBPF, captures, options), fragment).catch((error) => {
        error.message = `${basename(captures[0])}, ${options.join(" ") || "no filter"}: ${error.message}`;
        throw error;
      });
    if (replay(UCXBPF, captures).waits.length) await parts(view);
    if (captures.length > 1) await byWaiting(view, replay(UCXBPF, captures));
    await held(view, replay(UCXBPF, captures), captures.length === 1 ? events(UCXBPF, captures[0]) : []);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async callers(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await callersOfText(view, execFileSync(UCXBPF, ["replay", "-vv", "--exact", capture]).toString());
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async behind(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await behind(view, replay(UCXBPF, capture), UCXBPF, [capture]);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async waiting(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await waiting(view, UCXBPF, [capture]);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async events(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await timeline(view, events(UCXBPF, capture), replay(UCXBPF, capture));
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async interact(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await interact(view, events(UCXBPF, capture));
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async lines(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await view.show("view=timeline");
    await lines(view, events(UCXBPF, capture));
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  // Takes a page, not a capture.
  async names(browser, path) {
    const view = await new Report(browser, path).open();
    await names(view);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  // Takes a page with 1,024 processes on 64 hosts.
  async many(browser, path) {
    const view = await new Report(browser, path).open();
    await many(view, 1024, 64);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  // Takes captures that are joined by commas.
  async hosts(browser, list) {
    const captures = list.split(",");
    const view = await new Report(browser, page(captures)).open();
    await hosts(view, replay(UCXBPF, captures));
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  // A report and the verdict that lies beside it lead to each other, and to nothing else.
  async beside(browser, list) {
    const [report, verdict] = list.split(",");
    const view = await new Report(browser, report).open();
    for (const [label, title] of [["Verdict", "ucxbpf verdict"], ["Report", "ucxbpf report"]]) {
      await view.page.getByRole("link", { name: label }).click();
      await view.page.waitForSelector(".app");
      assert.equal(await view.page.title(), title);
    }
    assert.deepEqual(view.complaints, [`request: ${pathToFileURL(verdict).href}`]);
    await view.close();
  },
  // Takes a page with one damaged section, which its name gives. A damaged section of the timeline leaves the rest as it is.
  async damaged(browser, path) {
    const section = basename(path, ".html");
    const view = await new Report(browser, path).open();
    if (section === "events") await view.load("view=timeline");
    const said = view.page.getByText(`cannot be shown: section ${section} is damaged`);
    await said.waitFor();
    assert.equal(await view.page.locator(".app").count(), section === "events" ? 1 : 0);
    await view.close();
  },
  // Takes captures that are joined by commas.
  async access(browser, list) {
    const view = await new Report(browser, page(list.split(","))).open();
    await reports(view, basename(list));
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  // Takes the page of a verdict.
  async verdict(browser, path) {
    const view = await new Report(browser, path).open();
    await verdicts(view, basename(path));
    await printed(view, [""]);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async keys(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await keys(view);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async fits(browser, list) {
    const view = await new Report(browser, page(list.split(","))).open();
    await fits(view, basename(list));
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async sizes(browser, list) {
    const view = await new Report(browser, page(list.split(","))).open();
    await magnified(view);
    await printed(view);
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
  async controls(browser, capture) {
    const view = await new Report(browser, page(capture)).open();
    await controls(view, replay(UCXBPF, capture));
    await timeRange(view, replay(UCXBPF, capture));
    assert.deepEqual(view.complaints, []);
    await view.close();
  },
};

const SIZES = [[1440, 900], [1920, 1080]];

async function shots(browser, folder, list) {
  mkdirSync(folder, { recursive: true });
  const captures = list.split(",");
  const path = page(captures);
  for (const [width, height, colorScheme] of SIZES.flatMap((size) => ["light", "dark"].map((scheme) => [...size, scheme]))) {
    const view = await new Report(browser, path).open({ colorScheme, viewport: { width, height } });
    for (const name of [...VIEWS, "devices"]) {
      await view.show(name === "devices" ? "view=graphs&graphs.show=device" : `view=${name}`);
      await view.page.waitForTimeout(400); // until layouts and fonts have settled
      await view.page.screenshot({ path: join(folder, `${basename(captures[0], ".ucxb")}-${name}-${colorScheme}-${width}.png`) });
    }
    assert.deepEqual(view.complaints, []);
    await view.close();
  }
}

const [what, ...rest] = process.argv.slice(2);
const folder = what === "shots" ? rest.shift() : null;
await withBrowser(async (browser) => {
  for (const capture of rest) await (folder ? shots(browser, folder, capture) : CHECKS[what](browser, capture));
});
