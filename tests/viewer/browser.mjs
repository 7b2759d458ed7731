// SPDX-License-Identifier: BSD-3-Clause
// A report in Debian's Chromium. Complaints of the page and its requests to a network are kept.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const TOP = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const VIEWER = createRequire(join(TOP, "user/show/viewer/package.json"));
const { chromium } = VIEWER("playwright-core");

export const CHROMIUM = "/usr/bin/chromium";
export const VIEWS = ["overview", "summary", "timeline", "matrix", "graphs", "tables", "hosts"];

// Root has no sandbox for browsers; the page is our own and has no network.
const ARGS = ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];

export async function withBrowser(work) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGS, timeout: 30000 });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}

export class Report {
  constructor(browser, path) {
    this.browser = browser;
    this.url = pathToFileURL(path).href;
    this.complaints = [];
  }

  async open(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    this.page = await context.newPage();
    this.page.setDefaultTimeout(10000);
    this.page.on("console", (message) => this.complaints.push(`console: ${message.text()}`));
    this.page.on("pageerror", (error) => this.complaints.push(`error: ${error.message}`));
    this.page.on("request", (request) => {
      if (request.url().split("#")[0] !== this.url) this.complaints.push(`request: ${request.url()}`);
    });
    // What is copied is kept, since a browser without a screen has no clipboard.
    await this.page.addInitScript(() => {
      const keep = (text) => ((globalThis.copied = text), Promise.resolve());
      Object.defineProperty(navigator, "clipboard", { value: { writeText: keep } });
    });
    await this.load("");
    return this;
  }

  // As a reader's link does, from a blank page.
  async load(fragment) {
    await this.page.goto("about:blank");
    await this.page.goto(`${this.url}#${fragment}`);
    await this.page.waitForSelector(".app, [role=alert]");
  }

  // Follows a link within the page, until the parts out of sight are drawn as well.
  async show(fragment) {
    await this.page.evaluate((text) => (location.hash = text), fragment);
    await this.settled();
  }

  async settled() {
    await this.page.evaluate(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      for (let i = 0; i < 3 || document.querySelector(".main").ariaBusy === "true"; i++) await frame();
    });
  }

  async fragment() {
    await this.settled();
    return this.page.evaluate(() => location.hash.slice(1));
  }

  text(selector) {
    return this.page.locator(selector).innerText();
  }

  // A table by its id, as rows of column → text, all digits.
  async table(id) {
    await this.page.locator(`#${id}`).waitFor();
    await this.settled();
    const text = await this.page.evaluate((name) => {
      const card = document.getElementById(name);
      if (card.querySelector(".empty")) return null;
      globalThis.copied = null;
      card.querySelector("header button.end").click(); // Copy as CSV
      return globalThis.copied;
    }, id);
    return text === null ? [] : parseCsv(text);
  }

  close() {
    return this.page.context().close();
  }
}

function cells(line) {
  return [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
    .slice(0, -1)
    .map(([, cell]) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}

// Rows of one line each, as all of these tables have.
export function parseCsv(text) {
  const [head, ...rows] = text.trimEnd().split("\n").map((line) => cells(line.endsWith(",") ? `${line}""` : line));
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}
