// SPDX-License-Identifier: BSD-3-Clause
// Accessibility: axe-core checks pages against the rules of WCAG 2, levels A and AA. Canvases, magnified pages and paper,
// which it cannot see, are checked here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { VIEWER, VIEWS } from "./browser.mjs";

const AXE = readFileSync(VIEWER.resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"];

// It leaves these to people: text that is a sign, which its label says in words.
const LEFT = (id, messages) => id === "label-content-name-mismatch" || messages.includes("only non-text characters");

// The debugger evaluates it: the page's policy stays as it is. Parts out of sight are laid out as if they were in sight: until
// then the browser only guesses their height, and axe would find them over each other.
async function complaints({ page }, where, within = "html", rules = RULES) {
  await page.locator(".turn").evaluateAll((parts) => parts.forEach((part) => (part.style.contentVisibility = "visible")));
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const { violations, incomplete } = await page.evaluate(
    ([context, options]) => globalThis.axe.run(context, options),
    [within, { runOnly: rules, selectors: false, resultTypes: ["violations", "incomplete"] }]);
  const lines = [violations, incomplete].map((results) => results.flatMap(({ id, help, nodes }) => nodes.map((node) =>
    ({ id, said: [...node.any, ...node.all, ...node.none].map(({ message }) => message).join("; "), help, html: node.html.slice(0, 200) }))));
  const open = lines[1].filter(({ id, said }) => !LEFT(id, said));
  return [...lines[0], ...open].map(({ id, help, html, said }) => `${where}: ${id}: ${help}: ${html}: ${said}`);
}

// A canvas has no words of its own: its label has to give them.
async function canvases({ page }, where) {
  const mute = await page.locator("canvas:not([aria-hidden=true])").evaluateAll((list) =>
    list.filter((one) => !one.role || !one.ariaLabel).map((one) => one.parentElement.className));
  return mute.map((name) => `${where}: a canvas in ${name} has no role or no words`);
}

const STATES = ["view=overview", "view=summary", "view=timeline&timeline.event=0", "view=matrix", "view=graphs&graphs.show=device", "view=tables", "view=hosts"];
assert.ok(VIEWS.every((name) => STATES.some((state) => state.startsWith(`view=${name}`))), "every view");
// What is around all views: with all filters open, and of a size of which there is nothing.
const FRAMES = ["open.facets=transport,device,op,ucp-op,function,protocol,process,src,dst,host,size", "size=65&open.facets=size"];

// The dark page differs from the light one in its colours alone.
const COLOURS = ["color-contrast"];
const LOOKS = [
  { colorScheme: "light", side: "yes", of: STATES, within: ".view", rules: RULES },
  { colorScheme: "light", side: "yes", of: FRAMES, within: "html", rules: RULES },
  { colorScheme: "light", side: "no", of: FRAMES.slice(0, 1), within: "html", rules: RULES },
  { colorScheme: "dark", side: "no", of: STATES, within: ".view", rules: COLOURS },
  { colorScheme: "dark", side: "yes", of: FRAMES, within: "html", rules: COLOURS },
];

const none = (lines) => assert.equal(lines.length, 0, `${lines.length} complaints:\n${lines.join("\n")}`);

export async function reports(view, name) {
  const lines = [];
  for (const { colorScheme, side, of, within, rules } of LOOKS) {
    await view.page.emulateMedia({ colorScheme });
    for (const state of of) {
      await view.show(`${state}&side.open=${side}`);
      const where = `${name}, ${state}, ${colorScheme}, filters ${side}`;
      lines.push(...await complaints(view, where, within, rules), ...await canvases(view, where));
    }
  }
  none(lines);
  await witness(view);
}

// A page that is wrong is found to be.
async function witness(view) {
  await view.page.evaluate(() => {
    document.querySelector("h2").style.color = getComputedStyle(document.body).backgroundColor;
    document.querySelector(".tabs").role = "list";
  });
  const lines = (await complaints(view, "harmed")).join("\n");
  for (const id of ["color-contrast", "aria-required-parent"]) assert.ok(lines.includes(id), `${id} is not found: ${lines}`);
}

// With every finding shown and opened.
export async function verdicts(view, name) {
  const { page } = view;
  const more = page.locator(".button.state[aria-pressed=false]:enabled");
  while (await more.count()) await more.first().click();
  await page.locator("tr.finding .opener").first().click();
  const lines = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    lines.push(...await complaints(view, `${name}, ${colorScheme}`));
  }
  none(lines);
}

const MM = 96 / 25.4;
const A4 = { width: Math.floor((297 - 2 * 14) * MM), height: Math.floor((210 - 2 * 14) * MM) }; // landscape, in the margins of print.css

// Parts of a page that would be missing on paper, and parts that would be of no use there.
function misprints() {
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0;
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  const cut = (element) => {
    for (let box = element.parentElement; box; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== "visible" && box !== document.body && box.scrollWidth > box.clientWidth + 1) return true;
    return element.getBoundingClientRect().right > innerWidth + 1;
  };
  return [
    ...all(".side, .toolbar, .controls, .filters, .button, .chip button, input, select").map((one) => `is printed: ${one.className}`),
    ...all("table, th, td, canvas").filter(cut).map((one) => `is cut off: ${one.tagName} ${one.textContent.slice(0, 60)}`),
    ...(document.documentElement.dataset.theme === "light" ? [] : ["is printed dark"]),
  ];
}

export async function printed(view, states = STATES) {
  const { page } = view;
  await page.setViewportSize(A4);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  for (const state of states) {
    await view.show(state);
    none((await page.evaluate(misprints)).map((line) => `${state}: ${line}`));
  }
}

// Text that reaches out of its cell or card, over its neighbour.
function overprinted() {
  const hides = (element, end) => {
    for (let box = element; box && box !== end.parentElement; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== "visible") return true;
    return false;
  };
  const out = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    const box = element.closest("td, th, li, dd, dt, .card, .side, .top, .foot");
    if (!node.data.trim() || !box || !element.checkVisibility() || hides(element, box)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const [text, room] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
    if (text.width && (text.right > room.right + 1.5 || text.left < room.left - 1.5)) out.push(`${node.data.slice(0, 80)} (${Math.round(text.right - room.right)} px)`);
  }
  return out;
}

export async function fits(view, name) {
  for (const [width, height] of [[1280, 800], [1920, 1080]]) {
    await view.page.setViewportSize({ width, height });
    for (const state of STATES) {
      await view.show(state);
      none((await view.page.evaluate(overprinted)).map((line) => `${name}, ${state}, ${width} px: ${line}`));
      const wide = await view.page.locator("table.data").evaluateAll((all) => all.filter((table) => table.offsetWidth > table.parentElement.clientWidth + 1).map((table) => `${table.closest("section").id} ${table.offsetWidth} of ${table.parentElement.clientWidth} px`));
      none(wide.map((line) => `${name}, ${state}, ${width} px: has to be scrolled: ${line}`));
    }
  }
}

// 1280 px at 200 and 400 %: nothing is lost, and nothing is scrolled sideways but tables and pictures of their own.
export async function magnified(view) {
  const { page } = view;
  for (const [width, height] of [[640, 400], [320, 200]]) {
    await page.setViewportSize({ width, height });
    for (const state of STATES) {
      await view.show(state);
      const { over, filters } = await page.evaluate(() => ({
        over: Math.max(...[...document.querySelectorAll("html, .top, .main, .side")].map((one) => one.scrollWidth - one.clientWidth)),
        filters: document.querySelector(".side").checkVisibility(),
      }));
      assert.ok(over <= 0, `${state}: ${over} px too wide for ${width}`);
      assert.ok(filters, `${state}: no filters at ${width} px`);
    }
  }
}
