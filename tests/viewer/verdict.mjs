#!/usr/bin/env node
// SPDX-License-Identifier: BSD-3-Clause
// usage: verdict.mjs check PAGE...            X.html, the page of a verdict, shows what X.json says
//        verdict.mjs shots FOLDER PAGE...     pictures, light, dark and printed
// environment: UCXBPF
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Report, withBrowser } from "./browser.mjs";

const UCXBPF = process.env.UCXBPF ?? "build/ucxbpf";
const RULES = execFileSync(UCXBPF, ["policy", "rules"], { encoding: "utf8" }).match(/^### [A-Z]+-\d+: /gm).length;
const STATE = (finding) => (finding.verdict === "fail" ? finding.severity : finding.verdict);

// The findings that lines show, each line's members counted.
const rows = (page) => page.locator("tr.finding").evaluateAll((list) => list.map((row) =>
  [...row.cells].map((cell, i) => (i === 1 ? cell.firstChild : cell).innerText.replace(/\s+/g, " ").trim())));

async function press(page, name, wanted) {
  const button = page.locator(`.button.state.${name}`);
  if ((await button.getAttribute("aria-pressed")) !== String(wanted) && (await button.isEnabled())) await button.click();
}

async function numbers(view, { summary, findings, evidence }) {
  const { page } = view;
  const text = await page.locator(".numbers").innerText();
  for (const name of ["critical", "unknown", "waived"]) assert.match(text, new RegExp(`${name}\\s+${summary[name]}\\b`, "i"));
  // Evidence that a rule of its completeness leaves open is not called complete.
  const open = findings.filter(({ rule, verdict }) => rule.startsWith("COV-") && (verdict === "fail" || verdict === "unknown"));
  const doubts = [...new Set(open.map(({ rule }) => rule))];
  const word = !evidence.complete ? "incomplete" : doubts.length ? `in doubt: ${doubts.join(", ")}` : "complete";
  assert.equal(await page.locator(".numbers div", { has: page.getByText("evidence", { exact: true }) }).locator("dd").innerText(), word);
  assert.match(text, new RegExp(`rules judged\\s+${summary.rules_judged} of ${RULES}`, "i"));
  assert.match(await page.locator("#findings header").innerText(), new RegExp(` ${findings.length} findings`));
}

// For each state, all subjects of its findings are in a line, and opened lines have all the words of the JSON.
async function states(view, { findings }) {
  const { page } = view;
  for (const state of ["critical", "warning", "info", "unknown", "waived", "pass", "skip"]) {
    const own = findings.filter((finding) => STATE(finding) === state);
    for (const other of ["critical", "warning", "info", "unknown", "waived", "pass", "skip"]) await press(page, other, other === state);
    const button = page.locator(`.button.state.${state}`);
    assert.equal(await button.isEnabled(), own.length > 0, state);
    assert.ok((await button.innerText()).endsWith(` ${own.length}`), `${state}: as many findings as the JSON has`);
    if (!own.length) continue;
    const seen = await rows(page);
    assert.deepEqual([...new Set(seen.map((row) => row[1]))].sort(), [...new Set(own.map((one) => one.rule))].sort(), state);
    for (const row of seen) assert.ok(row[0].toLowerCase().endsWith(state), row[0]);
  }
}

async function details(view, { findings }) {
  const { page } = view;
  for (const finding of findings.filter((one) => one.verdict === "fail")) {
    await view.load(`rule=${finding.rule}`);
    const opener = page.locator("tr.finding .opener").first();
    await opener.focus();
    await page.keyboard.press("Enter");
    assert.equal(await opener.getAttribute("aria-expanded"), "true");
    const text = await page.locator("tr.opened").innerText();
    for (const word of [finding.title, finding.remedy, finding.reference, finding.expected, ...finding.causes])
      assert.ok(text.includes(word), `${finding.rule}: ${word}`);
    assert.equal(await page.getByText("For example").count(), finding.examples.length ? 1 : 0);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("tr.opened").count(), 0);
  }
}

const NODES = (subject) => subject.split(/[<>]+/).map((end) => end.split(":")[0]);
const WORST = ["critical", "warning", "info", "unknown", "waived", "pass", "skip"];

// Each cell of nodes and rules says the worst that the JSON says there.
async function grid(view, { findings, nodes }) {
  const { page } = view;
  await view.load("");
  const cells = await page.locator("table.grid button.cell").evaluateAll((list) =>
    list.map((cell) => [cell.getAttribute("aria-label"), cell.className.split(" ")[1]]));
  const expected = new Map();
  for (const finding of findings)
    for (const node of NODES(finding.subject)) {
      if (!nodes.some(({ name }) => name === node)) continue;
      const key = `${node} ${finding.rule}`, state = STATE(finding);
      if (!expected.has(key) || WORST.indexOf(state) < WORST.indexOf(expected.get(key))) expected.set(key, state);
    }
  // rows of nodes alike are one: at most as many cells as are expected, and none says another thing
  assert.ok(cells.length > 0 && cells.length <= expected.size);
  for (const [label, state] of cells) {
    const [, folded, rule] = /^(.*?): (\S+) /.exec(label);
    for (const { name } of nodes) if (folded === name) assert.equal(state, expected.get(`${name} ${rule}`), label);
  }
  const bad = cells.filter(([, state]) => state === "critical").map(([label]) => label);
  assert.equal(bad.length > 0, findings.some((one) => STATE(one) === "critical" && NODES(one.subject).some((node) => nodes.some(({ name }) => name === node))));
  if (!bad.length) return;
  await page.locator("table.grid button.cell.critical").first().click();
  const [, , rule] = /^(.*?): (\S+) /.exec(bad[0]);
  assert.deepEqual([...new Set((await rows(page)).map((row) => row[1]))], [rule]);
  assert.match(page.url(), new RegExp(`rule=${rule}`));
}

async function rails(view, { nics }) {
  const { page } = view;
  await view.load("");
  const sent = await page.locator("#rails meter").evaluateAll((list) => list.map((meter) => meter.value));
  assert.deepEqual(sent.sort(), nics.map((nic) => Number(nic.sent) + Number(nic.fetched)).sort());
}

async function actions(view, { actions: { drain } }) {
  const { page } = view;
  const text = await page.locator("#actions pre").allInnerTexts();
  assert.equal(text.length, drain.length);
  for (const [at, one] of drain.entries()) assert.ok(text[at].includes(`NodeName=${one.nodes} State=DRAIN Reason="${one.reason}"`));
}

async function check(browser, path) {
  const json = path.replace(/html$/, "json");
  const verdict = JSON.parse(readFileSync(json, "utf8"));
  const view = await new Report(browser, path).open();
  for (const part of [numbers, states, details, grid, rails, actions]) await part(view, verdict);
  assert.deepEqual(view.complaints, []);
  await view.close();
}

async function shots(browser, folder, path) {
  mkdirSync(folder, { recursive: true });
  const name = join(folder, basename(path, ".html"));
  for (const colorScheme of ["light", "dark"]) {
    const view = await new Report(browser, path).open({ colorScheme });
    if (await view.page.locator("tr.finding .opener").count()) await view.page.locator("tr.finding .opener").first().click();
    await view.page.screenshot({ path: `${name}-${colorScheme}.png`, fullPage: true });
    if (colorScheme === "light") await view.page.pdf({ path: `${name}.pdf` });
    assert.deepEqual(view.complaints, []);
    await view.close();
  }
}

const [what, ...rest] = process.argv.slice(2);
await withBrowser(async (browser) => {
  const folder = what === "shots" ? rest.shift() : null;
  for (const path of rest) await (folder ? shots(browser, folder, path) : check(browser, path));
});
