// SPDX-License-Identifier: BSD-3-Clause
// Who is behind in a hang: the page's first sentences against the text report, the table against the JSON one, and a click
// that leads to the rank in the timeline.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { label } from "./expected.mjs";

const flat = (text) => text.replace(/\s+/g, " ");

async function sentences(view, report, text) {
  await view.show("view=overview");
  const said = (await view.page.locator(".verdict li").allInnerTexts()).filter((line) => /behind|not entered|for each other/.test(line));
  assert.equal(said.length, report.behind.length);
  for (const line of said) {
    const words = flat(line).replace(/\.( Show it in the timeline)?$/, "");
    assert.ok(text.includes(words[0].toLowerCase() + words.slice(1)), `not in the text report: ${words}`);
  }
}

const where = (row) => {
  if (row.members.length > 1) return "";
  if (row.outside === null && row.reason === null) return row.traced ? "not known where" : "not traced here";
  return row.reason ? `not known whether in MPI: ${row.reason}` : row.function ? `in ${row.function}` : row.outside ? "outside of MPI" : "not known where";
};

async function table(view, report) {
  await view.show("view=summary");
  const rows = await view.table("table-behind");
  assert.deepEqual(
    rows.map((row) => [row["Ranks that wait"], row.Who.match(/\d+/g).join(), row.Behind, row["Not entered"], row.Where, row["Call site"]]),
    report.behind.map((row) => [
      `${row.waiting}`, row.members.length ? row.members.map((id) => label(report, id)).join() : `${row.ranks[0]}`,
      row.mutual ? `${row.certain ? "" : "perhaps "}each other` : row.certain ? "yes" : "perhaps", row.not_entered ?? "", where(row), row.call_site ?? "",
    ]));
}

// From the sentence and from the table, whatever is filtered: to the rank, also one that made no event.
async function click(view, report) {
  const { page } = view;
  const [{ members: [first] }] = report.behind;
  for (const [fragment, button] of [["view=overview", ".verdict li button"], ["view=summary&process=0", "#table-behind tbody .pick"]]) {
    await view.show(fragment);
    await page.locator(button).first().click();
    await page.locator(".tracks canvas").waitFor();
    await view.settled();
    assert.match(await view.fragment(), new RegExp(`^view=timeline&timeline.process=${first}\\b`), `from ${fragment}`);
    assert.ok((await page.locator(".timeline header").innerText()).includes(`rank ${label(report, first)} is marked`));
    const blue = await page.evaluate(() => {
      const { width, height } = document.querySelector(".marks");
      const { data } = document.querySelector(".marks").getContext("2d").getImageData(0, 0, width, height);
      return data.filter((value, i) => i % 4 === 3 && value).length / width;
    });
    assert.ok(blue > 2, "its track has a frame");
  }
  await page.locator(".tracks canvas").focus();
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator(".timeline header").innerText()).includes("is marked"), "escape lets go of it");
}

// The page does not mention filters where there are none.
async function empty(view, report) {
  if (report.transfers.some((row) => row.kind === "data" && row.count)) return;
  await view.load("view=tables");
  await view.settled();
  assert.ok((await view.page.locator(".empty").allInnerTexts()).includes("No data transfer was recorded."));
}

const told = (ucxbpf, captures) => flat(execFileSync(ucxbpf, ["replay", ...captures], { encoding: "utf8" }));

// How many ranks wait, or may wait.
export async function waiting(view, ucxbpf, captures) {
  const those = (text) => /\d+ ranks? (?:may wait|waits?)(?=:)/.exec(text)?.[0];
  await view.show("view=overview");
  const page = (await view.page.locator(".verdict li").allInnerTexts()).join(" ");
  assert.equal(those(page), those(told(ucxbpf, captures)));
}

export async function behind(view, report, ucxbpf, captures) {
  await sentences(view, report, told(ucxbpf, captures));
  await waiting(view, ucxbpf, captures);
  await table(view, report);
  await click(view, report);
  await empty(view, report);
}
