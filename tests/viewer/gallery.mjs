#!/usr/bin/env node
// SPDX-License-Identifier: BSD-3-Clause
// usage: gallery.mjs FOLDER [NAME...]
// The pictures of docs/gallery.md, of the captures in tests/data. Called by scripts/gallery.
// environment: UCXBPF
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Report, withBrowser } from "./browser.mjs";

const UCXBPF = process.env.UCXBPF ?? "build/ucxbpf";
const DATA = "tests/data";
const GPU = (kind) => `gpu/pairs-plain-peer-1.18.1-v2-${kind}-static-start/job`;
const RING = "gpu/halo-ring-1.18.1-v2-ipc-static-start/job";
const HOSTS = ["hosts.n0", "hosts.n1"];
const FOUR = (name) => ["n0", "n1", "n2", "n3"].map((node) => `${name}.${node}`);
const ALLREDUCE = [
  ["Open MPI: recursive doubling", FOUR("allreduce-openmpi-doubling")],
  ["Open MPI: reduce-scatter, allgather", FOUR("allreduce-openmpi-halving")],
  ["Open MPI: ring", FOUR("allreduce-openmpi-ring")],
  ["MPICH: recursive doubling", FOUR("allreduce-mpich-doubling")],
  ["MPICH: reduce-scatter, allgather", FOUR("allreduce-mpich-halving")],
  ["MPICH: ring", FOUR("allreduce-mpich-ring")],
];
const CG = FOUR("cg");
const REDUCED = "function=MPI_Allreduce";
const CG_FUNCTIONS = [
  ["MPI_Isend", CG, "view=graphs&side.open=no&function=MPI_Isend"],
  ["MPI_Allreduce", CG, `view=graphs&side.open=no&${REDUCED}`],
];

// Walks along the calls of the first process as a reader does, with the key n, up to one of that many bytes.
const upTo = (bytes) => async ({ page }) => {
  await page.locator(".tracks canvas").focus();
  for (let i = 0; i < 500; i++) {
    await page.keyboard.press("n");
    if ((await page.locator(".details tr.chosen").innerText()).includes(bytes)) return;
  }
  throw new Error(`no call of ${bytes}`);
};

// Chooses the call under the pointer: the longest one of the first process there.
const atRange = async ({ page }) => {
  const box = await page.locator(".tracks canvas").boundingBox();
  await page.mouse.click(box.x + 172 + 0.48 * (box.width - 172), box.y + 24 + 24 + 12);
};

const toTimeline = ({ page }) => page.getByRole("button", { name: "Show it in the timeline" }).click();

// name, of what captures, which view (the fragment of a link), which part of the page, in which window;
// many: [title, captures, view] side by side
const PICTURES = [
  { name: "sizes", of: ["sizes"], show: "view=tables", part: "#table-paths" },
  { name: "sizes-sizes", of: ["sizes"], show: "view=tables", part: "#table-ops" },
  { name: "hosts", of: HOSTS, show: "view=graphs&graphs.show=device&side.open=no", height: 720 },
  { name: "hosts-paths", of: HOSTS, show: "view=tables", part: "#table-paths" },
  { name: "allreduce-matrix", many: ALLREDUCE, show: `view=matrix&side.open=no&${REDUCED}`, part: ".matrix-plot", width: 760 },
  { name: "allreduce-graph", many: ALLREDUCE, show: `view=graphs&side.open=no&${REDUCED}`, part: ".graph", width: 460, height: 690 },
  { name: "cg", of: CG, show: "view=graphs&graphs.show=device&side.open=no", height: 840 },
  { name: "cg-functions", many: CG_FUNCTIONS, part: ".graph", width: 460, height: 690 },
  { name: "cg-timeline", of: CG, show: "view=timeline&side.open=no", scheme: "dark", height: 920 },
  { name: "top", of: ["gromacs"], show: "view=tables", part: "#table-cross" },
  { name: "top-functions", of: ["gromacs"], show: "view=tables", part: "#table-functions", height: 1000 },
  { name: "late-words", of: ["gromacs"], show: "side.open=no", part: ".verdict" },
  { name: "late-ranks", of: ["gromacs"], show: "view=summary&side.open=no", part: "#table-time" },
  { name: "late-causes", of: ["gromacs"], show: "view=summary&side.open=no", part: "#table-causes", height: 900 },
  { name: "late-timeline", of: ["gromacs"], show: "view=timeline&side.open=no&timeline.at=288000000-306000000", act: atRange, height: 860 },
  { name: "selected", of: ["gromacs"], show: "view=tables&side.open=no&transport=cma", height: 860 },
  { name: "behind-words", of: ["stuck-skip-openmpi"], show: "side.open=no", part: ".verdict" },
  { name: "behind-timeline", of: ["stuck-skip-openmpi"], show: "side.open=no", act: toTimeline, height: 460 },
  { name: "gpu-ipc", of: [GPU("ipc")], show: "" },
  { name: "gpu-staged", of: [GPU("staged")], show: "" },
  { name: "gpu-ipc-ways", of: [GPU("ipc")], show: "view=tables", part: "#table-ways", height: 1100 },
  { name: "gpu-staged-ways", of: [GPU("staged")], show: "view=tables", part: "#table-ways", height: 1100 },
  { name: "gpu-ring", of: [RING], show: "view=graphs&graphs.show=device&side.open=no", height: 700 },
  { name: "operation", of: ["sizes"], show: "view=timeline&side.open=no", act: upTo("8.00 MiB"), height: 940 },
];

const work = mkdtempSync(join(tmpdir(), "ucxbpf-gallery-"));

function report(captures) {
  const path = join(work, `${captures.map((name) => name.replaceAll("/", "-")).join("-")}.html`);
  const files = captures.map((name) => join(DATA, `${name}.ucxb`));
  execFileSync(UCXBPF, ["export", "-f", "html", "-o", path, ...files]);
  return path;
}

const SETTLED = 600; // ms until layouts and fonts have settled

async function shot(browser, captures, { show, part, act, scheme = "light", width = 1280, height = 800 }) {
  const view = await new Report(browser, report(captures)).open({ viewport: { width, height }, colorScheme: scheme });
  await view.load(show);
  await view.settled();
  await view.page.waitForTimeout(SETTLED);
  if (act) await act(view);
  await view.page.waitForTimeout(SETTLED);
  const shown = part ? view.page.locator(part).first() : view.page;
  // tables are laid out once they come into sight, and move the one that is wanted
  if (part) {
    await shown.scrollIntoViewIfNeeded();
    await view.page.waitForTimeout(SETTLED);
  }
  const image = await shown.screenshot();
  assert.deepEqual(view.complaints, []);
  await view.close();
  return image;
}

const SHEET = `body { margin: 0; font: 15px system-ui, sans-serif; background: #fff; color: #222 }
  main { display: grid; grid-template-columns: repeat(3, max-content); gap: 16px; padding: 12px; width: max-content }
  figure { margin: 0 } figcaption { padding-bottom: 6px } img { max-width: 400px; display: block }`;

// Several pictures in one, three in a row.
async function sheet(browser, pictures) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const figures = pictures.map(
    ([title, image]) => `<figure><figcaption>${title}</figcaption><img src="data:image/png;base64,${image.toString("base64")}"></figure>`);
  await page.setContent(`<style>${SHEET}</style><main>${figures.join("")}</main>`);
  const image = await page.locator("main").screenshot();
  await context.close();
  return image;
}

async function picture(browser, wanted) {
  if (!wanted.many) return shot(browser, wanted.of, wanted);
  const pictures = [];
  for (const [title, of, show] of wanted.many) pictures.push([title, await shot(browser, of, { ...wanted, show: show ?? wanted.show })]);
  return sheet(browser, pictures);
}

const [folder, ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
try {
  await withBrowser(async (browser) => {
    for (const wanted of PICTURES) {
      if (names.length && !names.includes(wanted.name)) continue;
      writeFileSync(join(folder, `${wanted.name}.png`), await picture(browser, wanted));
      console.log(basename(`${wanted.name}.png`));
    }
  });
} finally {
  rmSync(work, { recursive: true });
}
