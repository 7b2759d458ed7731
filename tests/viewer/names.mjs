// SPDX-License-Identifier: BSD-3-Clause
// Names that are meant to do harm (tests/bench/madefacts.c): they are shown, as text, and nothing else comes of them.
import assert from "node:assert/strict";
import { VIEWS } from "./browser.mjs";

const SHOWN = ["</script><script>alert(1)</script>", "<!--<img src=x onerror=alert(1)>", "line one\nline two\r\n", "?? no utf-8 ?", "=1+1"];
const LONG = `="long${"x".repeat(4090)}`;

// Elements that no page of ours has, and elements that stick out of their place.
function harm() {
  const strange = [...document.querySelectorAll("img, iframe, object, embed, link, base, form, [onerror], [onclick], #app script, #app style")];
  const programs = [...document.scripts].filter((script) => !["application/json", "text/plain"].includes(script.type));
  const wide = ["html", ".main", ".side", ".top", ".foot"].filter((name) => {
    const place = document.querySelector(name);
    return place.scrollWidth > place.clientWidth + 1;
  });
  // Words that lie over their neighbours.
  const over = [...document.querySelectorAll(".legend > *, .value .name, .chip span, .paths .name, .heaviest .name, table.cross th")]
    .filter((place) => place.scrollWidth > place.clientWidth + 1 && getComputedStyle(place).overflowX === "visible");
  return { strange: strange.map((e) => e.outerHTML.slice(0, 80)), programs: programs.length, wide, over: over.map((e) => e.className), alerted: globalThis.alerted ?? 0 };
}

const NONE = { strange: [], programs: 1, wide: [], over: [], alerted: 0 };

// Variables and cores of processes: every second one had other cores, every third one a variable less.
async function hosts(view) {
  await view.show("view=hosts");
  const placed = await view.page.evaluate(() => [...document.querySelectorAll("#table-placement tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.ok(placed.length > 0);
  for (const [, , pid, cores] of placed) assert.equal(cores, pid % 2 ? "0-3,8" : "not known", `cores of ${pid}`);
  const n = (await view.table("table-hosts")).reduce((sum, row) => sum + Number(row.Processes), 0);
  const of = (test) => Array.from({ length: n }, (_, i) => i).filter(test).length;
  const rows = (await view.table("table-environment")).map((row) => [row.Values, row.Variable, row.Value, row.Processes].join());
  const wanted = [["tcp", of((i) => i % 3 && i % 2)], ["all", of((i) => i % 3 && !(i % 2))], ["not set", of((i) => !(i % 3))]]
    .map(([value, many]) => `3,UCX_TLS,${value},${many}`);
  assert.deepEqual(rows.slice(0, 3).sort(), wanted.sort(), "the variable that differs comes first");
  assert.deepEqual(rows.slice(3), [`1,UCX_NET_DEVICES,<img src=x onerror=alert(1)>,${n}`]);
}

export async function names(view) {
  const { page } = view;
  await page.addInitScript(() => (globalThis.alert = () => (globalThis.alerted = 1)));
  for (const name of [...VIEWS.map((view) => `view=${view}`), "view=graphs&graphs.show=device", "view=matrix&matrix.of=messages"]) {
    await view.load(name);
    await view.settled();
    assert.deepEqual(await page.evaluate(harm), NONE, name);
  }
  await hosts(view);
  await view.show("view=tables");
  const shown = new Set((await view.table("table-functions")).map((row) => row["MPI function"]));
  const text = await page.evaluate(() => document.body.innerText);
  for (const name of SHOWN) if (!/[\r\n]/.test(name)) assert.ok(text.includes(name), `${name} is shown`);
  assert.ok([...shown].some((name) => name.includes("<script>")), "functions are in the CSV as they are");
  // A filter by each, by hand and by its link.
  const all = await page.evaluate(() => [...document.querySelectorAll("[data-facet=transport] li .name")].map((e) => e.textContent));
  assert.ok(all.includes(LONG), "4 KiB are all there");
  for (const [i, name] of all.entries()) {
    await view.show("view=overview");
    await page.locator("[data-facet=transport] li input").nth(i).click();
    await view.settled();
    const chosen = () => page.evaluate(() => [...document.querySelectorAll("[data-facet=transport] li:has(:checked) .name")].map((e) => e.textContent));
    assert.deepEqual(await chosen(), [name]);
    assert.deepEqual(await page.evaluate(harm), NONE, name.slice(0, 40));
    const link = await view.fragment();
    await view.show("");
    await view.show(link);
    assert.deepEqual(await chosen(), [name], "its link chooses it again");
  }
  // This page was made without a scan of causes: it states that, and leaves calls as they are.
  await view.show("view=tables");
  const whole = await view.table("table-functions");
  await page.locator("[data-facet=transport] li input").first().click();
  await view.settled();
  assert.match(await view.text("#selected"), /no room for what calls, operations and messages caused: those are not selected by Transport/);
  const counts = (rows) => rows.filter((row) => Number(row.Calls)).map((row) => [row["MPI function"], row.Calls].join()).sort();
  assert.deepEqual(counts(await view.table("table-functions")), counts(whole), "calls are left as they are");
  // Boxes under the pointer stay on the screen.
  await view.show("view=matrix");
  const { x, y, width, height } = await page.locator(".matrix-plot canvas").boundingBox();
  for (let i = 1; i < 12; i++) {
    await page.mouse.move(x + (width * i) / 12, y + (height * i) / 12);
    const box = await page.evaluate(() => document.querySelector(".tip")?.getBoundingClientRect().toJSON());
    if (box) assert.ok(box.left >= 0 && box.top >= 0 && box.right <= 1440 && box.bottom <= 900, "the box is in sight");
  }
  assert.deepEqual(await page.evaluate(harm), NONE);
}
