// SPDX-License-Identifier: BSD-3-Clause
// The report by keys alone: a filter, a table's order, a row, an operation; at each of them the focus can be seen.
import assert from "node:assert/strict";

const MOST = 200; // stops from one end of a page to the other

// Presses the key until one of these has the focus.
async function reach(page, selector) {
  for (let i = 0; i < MOST; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return seen(page, selector);
  }
  assert.fail(`${selector}: not within ${MOST} stops`);
}

// Its pixels are others than without the focus.
async function seen(page, what) {
  const clip = await page.evaluate(() => {
    const { left, top, right, bottom } = document.activeElement.getBoundingClientRect();
    const [x, y] = [Math.max(0, left - 4), Math.max(0, top - 4)];
    return { x, y, width: Math.min(innerWidth, right + 4) - x, height: Math.min(innerHeight, bottom + 4) - y };
  });
  const lit = await page.screenshot({ clip });
  const last = await page.evaluateHandle(() => document.activeElement);
  await last.evaluate((element) => element.blur());
  const without = await page.screenshot({ clip });
  await last.evaluate((element) => element.focus({ preventScroll: true }));
  assert.ok(!lit.equals(without), `${what}: the focus cannot be seen`);
}

async function tab(view, name) {
  await view.load("");
  await reach(view.page, "[role=tab]");
  for (let i = 0; (await view.text("[role=tab][aria-selected=true]")) !== name; i++) {
    assert.ok(i < 10, `no tab ${name}`);
    await view.page.keyboard.press("ArrowRight");
    await view.settled();
  }
}

export async function keys(view) {
  const { page } = view;
  await tab(view, "Tables");
  await reach(page, "[data-facet=transport] summary");
  await reach(page, "[data-facet=transport] input");
  await page.keyboard.press("Space");
  assert.match(await view.fragment(), /transport=/);
  assert.ok(await page.evaluate(() => document.activeElement.checked), "the focus stays where it was");
  await reach(page, ".strip .plot");
  await reach(page, "#table-cross .pick");
  await page.keyboard.press("Enter");
  assert.match(await view.fragment(), /&op=/);
  await reach(page, "#table-paths th button");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#table-paths th").first().getAttribute("aria-sort"), "ascending");
  await reach(page, "#table-pairs .pick");
  await page.keyboard.press("Enter");
  assert.match(await view.fragment(), /src=.*dst=/);
  await operation(view);
  await tab(view, "Matrix");
  await reach(page, ".matrix-plot canvas");
  await reach(page, ".heaviest button");
  await tab(view, "Graphs");
  await reach(page, ".graph canvas");
}

async function operation(view) {
  const { page } = view;
  const layer = () => page.locator(".details tr.chosen td").nth(1).innerText();
  await tab(view, "Timeline");
  await reach(page, ".choice [aria-checked=true]");
  await reach(page, ".tracks canvas");
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("n");
    assert.equal(await layer(), "MPI");
    await page.keyboard.press("i");
    if ((await layer()) === "UCP") break; // some calls start no operation
  }
  assert.equal(await layer(), "UCP");
  await reach(page, ".details .link");
  await page.keyboard.press("Enter");
  assert.equal(await layer(), "MPI", "its first row is the call");
}
