// SPDX-License-Identifier: BSD-3-Clause
// Where the time went: the summary's tables, the first sentences and the timeline's colours against the report.
import assert from "node:assert/strict";
import { label, sums } from "./expected.mjs";

const plain = (value) => (value === null || value === undefined ? "" : `${value}`);
const rank = (report, id) => (id === null ? "unknown" : label(report, id));

function alike(rows, wanted, what) {
  assert.deepEqual(rows.map((row) => row.join("|")).sort(), wanted.map((row) => row.map(plain).join("|")).sort(), what);
}

async function open(view, report) {
  if (!report.open.length) return;
  const rows = await view.table("table-open");
  alike(
    rows.map((r) => [r["Open for"], r.Rank, r["MPI function"], r["Waits for"], r["With rank"], r.Tag, r["Call site"], r.Since, r.Returned]),
    report.open.map((o) => [o.age_ns, rank(report, o.process), o.function, o.op ?? "unknown", o.peer_rank ?? "any or unknown", o.tag, o.call_site, o.since_ns, o.certain ? "no" : "perhaps"]),
    "open calls");
}

async function time(view, report) {
  const rows = await view.table("table-time");
  alike(
    rows.map((r) => [r.Rank, r.Observed, r["In MPI"], r.Waiting]),
    report.time.map((t) => [rank(report, t.process), t.span_ns, t.mpi_ns ?? 0, t.wait_ns]), "time of each process");
}

async function functions(view, report) {
  const wanted = sums(report.calls, (r) => r.function, ["count", "time_ns"]);
  for (const row of report.waits) {
    const at = wanted.get(row.function);
    at.waited = (at.waited ?? 0) + row.fresh_ns;
  }
  const rows = await view.table("table-summary");
  alike(
    rows.map((r) => [r["MPI function"], r.Calls, r.Sum, r.Waiting]),
    [...wanted].map(([name, sum]) => [name, sum.count, sum.time_ns, sum.waited ?? 0]), "functions by time");
}

const KINDS = {
  late_sender: "late sender", late_receiver: "late receiver", late_progress: "late progress", wait_at_barrier: "at barrier",
  wait_at_nxn: "at N x N", late_broadcast: "late broadcast", early_reduce: "early reduce", out_of_resources: "out of resources",
};

async function waits(view, report) {
  const rows = await view.table("table-waits");
  alike(
    rows.map((r) => [r.Time, r.Kind, r.Rank, r.in, r["Call site"], r["for rank"], r.before, r["its call site"], r.Count, r.Longest]),
    report.waits.map((w) => [w.sum_ns, KINDS[w.kind], rank(report, w.process), w.function, w.call_site, rank(report, w.culprit), w.culprit_function, w.culprit_call_site, w.count, w.max_ns]),
    "waits");
}

async function causes(view, report) {
  if (!report.wait_roots.length) return;
  const rows = await view.table("table-causes");
  alike(
    rows.map((r) => [r.Time, r.Rank, r.was, r.before, r["Call site"], r.Waits]),
    report.wait_roots.map((w) => w.process === null ? [w.fresh_ns, "not known", null, null, null, w.count]
      : [w.fresh_ns, label(report, w.process), w.did ?? "not known", w.function ?? "not known", w.call_site, w.count]), "causes");
}

async function durations(view, report) {
  const rows = await view.table("table-path-times");
  alike(
    rows.map((r) => [r.Transport, r["UCT operation"], r.Protocol, r.Locality, r.Kind, r.Exact, r.Median, r.p99]),
    report.path_times.map((p) => [`${p.transport}/${p.device}`, p.op, p.protocol, p.locality, p.kind, p.exact, p.exact_median_ns, p.exact_p99_ns]),
    "time of transfers");
  const exact = report.functions.filter((f) => f.exact);
  if (!exact.length) return;
  const functions = new Map((await view.table("table-summary")).map((r) => [r["MPI function"], r]));
  alike(
    exact.map((f) => [functions.get(f.function).Median, functions.get(f.function).p99]),
    exact.map((f) => [f.exact_median_ns, f.exact_p99_ns]), "time of calls");
}

export async function summary(view, report, fragment) {
  await view.show(`view=summary&${fragment}`);
  await open(view, report);
  await time(view, report);
  await functions(view, report);
  await waits(view, report);
  if (!fragment) await causes(view, report);
  if (!fragment && report.path_times.length) await durations(view, report);
  if (!report.open.some((o) => o.certain)) return;
  await view.show(fragment);
  const said = await view.page.locator(".verdict li").first().innerText();
  const { function: name, peer_rank: peer, process } = report.open[0];
  assert.match(said, new RegExp(`^${report.open.filter((o) => o.certain).length} ranks? waits?: rank ${rank(report, process)} in ${name} for .*rank ${peer}`));
}

// The rows of the waiting table, sorted, to compare two of them.
async function waitSums(view) {
  return (await view.table("table-waits")).map((r) => [r.Kind, r.Rank, r.in, r["Call site"], r["for rank"], r.before, r["its call site"], r.Time, r.Count, r.Longest].join("|")).sort();
}

async function whole(view, id, columns) {
  const rows = await view.table(id);
  return columns.map((name) => rows.reduce((sum, row) => sum + Number(row[name]), 0));
}

// A time or sizes that are everything change no number; two parts of either add up to it, waits included.
export async function parts(view) {
  await view.show("view=summary");
  const { buckets } = await view.page.evaluate(() => JSON.parse(document.getElementById("directory").textContent).time);
  const sizes = (from, to) => `size=${Array.from({ length: to - from }, (_, i) => from + i).join()}`;
  const all = await waitSums(view);
  const read = async (fragment) => {
    await view.show(`view=summary&${fragment}`);
    await view.page.waitForFunction(() => !document.querySelector("#table-waits").textContent.includes("cannot be filtered"));
    await view.settled();
    return [...await whole(view, "table-summary", ["Calls", "Sum", "Waiting"]), ...await whole(view, "table-time", ["In MPI", "Waiting"]), ...await whole(view, "table-waits", ["Time", "Count"])];
  };
  const sums = await read("");
  for (const [first, second, both] of [
    [`time=0-${Math.floor(buckets * 0.6)}`, `time=${Math.floor(buckets * 0.6)}-${buckets}`, `time=0-${buckets}`], [sizes(0, 8), sizes(8, 66), sizes(0, 66)],
  ]) {
    const [a, b] = [await read(first), await read(second)];
    assert.deepEqual(a.map((n, i) => n + b[i]), sums, `${first} and ${second} add up`);
    assert.deepEqual(await read(both), sums, both);
    assert.deepEqual(await waitSums(view), all, `${both}: the same waits, from single ones`);
  }
}

// The colours of the canvas along the middle of a row of pixels, as the reader sees them.
export async function pixels(view, y) {
  return view.page.evaluate((row) => {
    const canvas = document.querySelector(".tracks canvas");
    const ratio = canvas.width / canvas.clientWidth;
    const copy = new OffscreenCanvas(canvas.width, 1).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, -Math.round(row * ratio));
    const { data } = copy.getImageData(0, 0, canvas.width, 1);
    return Array.from({ length: canvas.width }, (_, i) => `#${[0, 1, 2].map((at) => data[4 * i + at].toString(16).padStart(2, "0")).join("")}`);
  }, y);
}

const WAITING = "#e5352b";
const RED_ROW = 24 + 24 + 4 + 17; // axis, the host's name, the track's margin, the lower part of its MPI lane
export const GUTTER = 172;
export const NAME_ROW = RED_ROW - 9; // where a call has its colour

export async function at(view, from, to, filter = "") {
  await view.load(`view=timeline&timeline.at=${from}-${to}${filter}`);
  await view.page.locator(".tracks canvas").waitFor();
  await view.settled();
}

// The strip above the tracks has no other colours than its ground and the legend's.
async function strip(view, legend) {
  const [seen, lowest] = await view.page.locator(".minimap canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const all = Array.from({ length: data.length / 4 }, (_, i) => `rgb(${data.subarray(4 * i, 4 * i + 3).join(", ")})`);
    return [all, all.slice(-canvas.width)].map((colours) => [...new Set(colours)]);
  });
  const ground = lowest.filter((colour) => !legend.includes(colour)); // tops of bars are blended with it
  assert.equal(ground.length, 1, `no meaning in the legend: ${ground}`);
  const [mpi] = await view.page.locator(".timeline-legend span", { hasText: /^in MPI$/ }).locator(".swatch")
    .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  assert.ok(seen.includes(mpi), "time in MPI has its own colour");
}

// The first process's longest wait is red from its start to its end; a call that has not returned is hatched to its end.
// No two entries of the legend have one colour.
export async function held(view, report, events) {
  const first = [...report.processes].sort((a, b) => a.host - b.host || (a.rank ?? 1e9) - (b.rank ?? 1e9) || a.id - b.id)[0];
  const begin = Math.min(...events.filter((e) => e.event === "call" || e.event === "op").map((e) => e.start));
  await view.show("view=timeline");
  await view.page.locator(".tracks canvas").waitFor();
  const legend = await view.page.locator(".timeline-legend .swatch:not(.hatched)").evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  assert.equal(new Set(legend).size, legend.length, `one meaning per colour: ${legend}`);
  await strip(view, legend);
  const waits = events.filter((e) => e.event === "wait" && e.process === first.id).sort((a, b) => b.end - b.start - a.end + a.start);
  if (waits.length) {
    const [from, to] = [waits[0].start - begin, waits[0].end - begin];
    const room = to - from;
    await at(view, from - room, to + room);
    const row = (await pixels(view, RED_ROW)).slice(GUTTER);
    const red = row.map((colour, i) => (colour === WAITING ? i : -1)).filter((i) => i >= 0);
    const third = row.length / 3;
    const inside = red.filter((i) => i > third + 2 && i < 2 * third - 2).length;
    assert.ok(inside > 0.98 * (third - 6), `${inside} red pixels in the wait, of ${third}`);
  }
  const open = report.open.find((o) => o.process === first.id && o.certain);
  if (!open) return;
  await at(view, open.since_ns, open.since_ns + open.age_ns);
  const row = (await pixels(view, RED_ROW - 6)).slice(GUTTER + 200);
  const changes = row.filter((colour, i) => i && colour !== row[i - 1]).length;
  assert.ok(changes > row.length / 16, `${changes} changes of colour: the open call is not hatched to its end`);
}
