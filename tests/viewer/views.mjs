// SPDX-License-Identifier: BSD-3-Clause
// Each view against the report: every number, under whatever filter both were given.
import assert from "node:assert/strict";
import { bytes, count, ends, label, ofKind, sums } from "./expected.mjs";

const callerOf = (row) => row.library ?? (row.role === "other" ? row.module.split("/").pop() : row.role) ?? "unknown";
let outsideMpi; // what stands for no MPI function, of the whole capture
const outside = (name) => name ?? outsideMpi;

function nameOutside({ callers = [] }) {
  const names = [...new Set(callers.map(callerOf))].filter((name) => !["mpi", "mpi_plugin", "mpi_ucc"].includes(name)).sort();
  return names.some((name) => name !== "unknown") ? names.join(", ") : "outside MPI";
}

function same(rows, key, wanted, columns, what) {
  const seen = new Map();
  for (const row of rows) {
    const id = key(row);
    assert.ok(!seen.has(id), `${what}: ${id} is there twice`);
    seen.set(id, Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, Number(row[column] ?? 0)])));
  }
  const expected = new Map([...wanted].map(([id, sum]) => [id, Object.fromEntries(Object.keys(columns).map((f) => [f, sum[f]]))]));
  assert.deepEqual(Object.fromEntries([...seen].sort()), Object.fromEntries([...expected].sort()), what);
}

const MEANS = ["timed", "exact", "exact_ns", "exact_bytes"];

// Means and rates are of exact times alone, with their share; a bound is no number to sort by.
async function means(view, id, rows, key, wanted) {
  const text = await view.text(`#${id}`);
  for (const row of rows) {
    const { timed, exact, exact_ns: ns, exact_bytes: moved } = wanted.get(key(row));
    assert.equal(row["Mean time"], exact ? `${ns / exact}` : "", `${id}: mean time of ${key(row)}`);
    if ("GB/s" in row) assert.equal(row["GB/s"], ns && moved ? `${moved / ns}` : "", `${id}: rate of ${key(row)}`);
    if (exact && exact < timed && rows.length <= 25) assert.ok(text.includes(`(${count(exact)} of ${count(timed)})`), `${id}: exact ones of ${key(row)}`);
  }
}

async function paths(view, report, kind) {
  const rows = await view.table("table-paths");
  const list = ofKind(report, kind);
  const several = new Set(list.map((r) => r.initiator)).size > 1; // else there is no column
  const key = (r) => [r.transport, r.device, r.op, r.protocol, r.locality, ...(several ? [r.initiator] : [])].join();
  const wanted = sums(list, key, ["count", "bytes", "retries", "wire_bytes", ...MEANS]);
  const shown = (r) => [r.Transport, r.Device, r["UCT operation"], r.Protocol, r.Locality, ...(several ? [r.By] : [])].join();
  same(rows, shown, wanted, { count: "Count", bytes: "Bytes", retries: "Retries", wire_bytes: "Wire bytes" }, "paths");
  await means(view, "table-paths", rows, shown, wanted);
}

async function cross(view, report, kind) {
  const wanted = sums(ofKind(report, kind).filter((r) => r.count || r.retries), (r) => `${r.transport},${r.op}`, ["count", "bytes"]);
  const rows = await view.table("table-cross");
  same(rows, (r) => `${r.transport},${r["UCT operation"]}`, wanted, { count: "count", bytes: "bytes" }, "transport by operation");
  const whole = [...wanted.values()].reduce((sum, row) => ({ count: sum.count + row.count, bytes: sum.bytes + row.bytes }), { count: 0, bytes: 0 });
  if (!rows.length) return;
  const head = await view.text("#table-cross header");
  assert.match(head, new RegExp(`of ${bytes(whole.bytes)} in ${count(whole.count)} ${kind} transfers`));
}

// Rows with a sum of the transfers that they caused, where a filter is on these.
function moved(rows, key, report, kind, own) {
  if (!rows.length || !("Selected bytes" in rows[0])) return;
  const wanted = sums(ofKind(report, kind).filter((r) => r.count), own, ["count", "bytes"]);
  const got = rows.filter((r) => +r["Selected transfers"]).map((r) => [key(r), { count: +r["Selected transfers"], bytes: +r["Selected bytes"] }]);
  assert.deepEqual(Object.fromEntries(got.sort()), Object.fromEntries([...wanted].sort()), "transfers that the rows caused");
}

// Those that are there for their transfers alone, which no call and no operation has.
const own = (rows, count) => rows.filter((r) => +r[count] || !+(r["Selected transfers"] ?? 0));

async function functions(view, report, kind) {
  const wanted = sums(report.calls, (r) => outside(r.function), ["count", "ops", "bytes", "time_ns", ...MEANS]);
  const columns = { count: "Calls", ops: "UCP operations", bytes: "Bytes sent", time_ns: "Time, all" };
  const all = await view.table("table-functions");
  moved(all, (r) => r["MPI function"], report, kind, (r) => outside(r.function));
  const rows = own(all, "Calls");
  for (const row of rows) if (row["Time, all"] === "") row["Time, all"] = 0; // unknown
  same(rows, (r) => r["MPI function"], wanted, columns, "MPI functions");
  await means(view, "table-functions", rows, (r) => r["MPI function"], wanted);
}

async function callSites(view, report, kind) {
  if (!report.call_sites?.length) return;
  const all = await view.table("table-sites");
  moved(Object.values(byFunction(all, kind)), (r) => r["MPI function"], report, kind, (r) => outside(r.function));
  const wanted = sums(report.call_sites, (r) => `${r.label}|${outside(r.function)}`, ["count", "ops", "bytes"]);
  const rows = sums(
    own(all, "Calls").map((r) => ({ ...r, count: +r.Calls, ops: +r["UCP operations"], bytes: +r["Bytes sent"] })),
    (r) => `${r["Call site"]}|${r["MPI function"]}`, ["count", "ops", "bytes"]);
  assert.deepEqual(Object.fromEntries([...rows].sort()), Object.fromEntries([...wanted].sort()), "call sites");
}

// Who called UCP outside MPI: places that have a name in common are added up.
async function callers(view, report, all) {
  if (!all.callers?.some((row) => row.role)) return;
  const wanted = sums(report.callers ?? [], (r) => [callerOf(r), r.module?.split("/").pop() ?? "unknown", r.label ?? "unknown", r.op].join("|"), ["count", "bytes", "errors"]);
  const rows = sums(
    own(await view.table("table-callers"), "Count").map((r) => ({ ...r, count: +r.Count, bytes: +r.Bytes, errors: +r.Errors })),
    (r) => [r.Caller, r.In, r["Call site"], r["UCP operation"]].join("|"), ["count", "bytes", "errors"]);
  assert.deepEqual(Object.fromEntries([...rows].sort()), Object.fromEntries([...wanted].sort()), "callers of UCP");
}

// As CALLERS OF UCP of the text report.
export async function callersOfText(view, text) {
  const wanted = {};
  const lines = text.slice(text.indexOf("CALLERS OF UCP")).split("\n\n")[0].split("\n").slice(1);
  for (const line of lines) {
    const [, name, file, op, ops, moved] = line.match(/^ {2}(.*\S) {2,}(\S+) +(\S+) +([\d,]+) +([\d,]+) B$/);
    wanted[[name, file, op].join("|")] = { ops: +ops.replaceAll(",", ""), moved: +moved.replaceAll(",", "") };
  }
  await view.show("view=tables");
  const rows = sums((await view.table("table-callers")).map((r) => ({ ...r, ops: +r.Count, moved: +r.Bytes })),
    (r) => [r.Function, r.In, r["UCP operation"]].join("|"), ["ops", "moved"]);
  assert.ok(lines.length > 2);
  assert.deepEqual(Object.fromEntries([...rows].sort()), Object.fromEntries(Object.entries(wanted).sort()), "callers as in the text");
}

function byFunction(rows, kind) {
  const out = {};
  const fields = ["Selected transfers", "Selected bytes"];
  for (const row of rows) {
    const at = (out[row["MPI function"]] ??= { "MPI function": row["MPI function"], ...(fields[0] in row && { [fields[0]]: 0, [fields[1]]: 0 }) });
    for (const field of fields) if (field in row) at[field] += +row[field];
  }
  return out;
}

async function operations(view, report, kind) {
  const memory = report.memory !== undefined; // told where a process has a GPU library
  const all = await view.table("table-ops");
  const brief = all.length > 0 && "Selected bytes" in all[0];
  moved(all, (r) => `${r["UCP operation"]},${r["MPI function"]}`, report, kind, (r) => `${r.ucp_op ?? "unknown"},${outside(r.function)}`);
  const rows = own(all, "Count");
  const key = (r) => (brief ? [r.op, outside(r.function)] : [r.op, outside(r.function), r.protocol, memory ? r.memory : ""]).join();
  const wanted = sums(report.ops, key, ["count", "bytes", "errors", ...MEANS]);
  const shown = (r) => (brief ? [r["UCP operation"], r["MPI function"]] : [r["UCP operation"], r["MPI function"], r.Protocol, memory ? r.Memory : ""]).join();
  same(rows, shown, wanted, { count: "Count", bytes: "Bytes", errors: "Errors" }, "UCP operations");
  await means(view, "table-ops", rows, shown, wanted);
}

// The ways of messages through memory; of each that is known, one row.
async function ways(view, report) {
  if (report.memory === undefined) return;
  const key = (r) => (r.chain ? [r.chain.join(" → "), r.via.join(", ")] : [`${r.src_mem} → ${r.dst_mem}`, `unknown: ${r.chain_reason}`]).join("|");
  const wanted = sums(report.messages, key, ["count", "bytes", "copies", "copy_bytes"]);
  const columns = { count: "Messages", bytes: "Bytes", copies: "Copies", copy_bytes: "Copied" };
  same(await view.table("table-ways"), (r) => `${r.Memory}|${r.Via}`, wanted, columns, "memory ways");
}

function wantedPairs(report, kind) {
  const out = new Map();
  const at = (src, dst) => {
    const id = `${label(report, src)}>${label(report, dst)}`;
    if (!out.has(id)) out.set(id, { messages: 0, of: 0, transfers: 0, bytes: 0 });
    return out.get(id);
  };
  for (const row of report.messages) {
    const pair = at(row.src, row.dst);
    pair.messages += row.count;
    pair.of += row.bytes;
  }
  for (const row of ofKind(report, kind)) {
    const pair = at(...ends(row));
    pair.transfers += row.count;
    pair.bytes += row.bytes;
  }
  return out;
}

async function pairs(view, report, kind) {
  const columns = { messages: "Messages", of: "of bytes", transfers: "Transfers", bytes: "Bytes" };
  same(await view.table("table-pairs"), (r) => `${r.From}>${r.To}`, wantedPairs(report, kind), columns, "pairs");
}

async function slowest(view, report, kind, filtered) {
  if (kind !== "data") return;
  const rows = await view.table("table-slowest");
  const shown = rows.map((r) => [Number(r.Time), r["UCT operation"], r.Path, r["Started by"]].join());
  const wanted = report.slowest.map((s) => [s.time_ns, s.op, `${s.transport}/${s.device}`, label(report, s.process)].join());
  const complete = (await view.text("#status-kept")).includes("all ");
  if (complete || !filtered) assert.deepEqual(shown.sort(), wanted.sort(), "slowest");
}

const numbers = ({ first_sequence: first, last_sequence: last }) => (first === null ? "unknown" : first === last ? `${first}` : `${first} to ${last}`);

// Rows of the report as they are, of the whole capture: every filter leaves them.
async function whole(view, report) {
  const plain = (values) => values.map((value) => `${value ?? ""}`).join("|");
  const alike = async (id, columns, rows, row) =>
    rows.length && assert.deepEqual((await view.table(id)).map((r) => plain(columns.map((name) => r[name]))).sort(), rows.map((r) => plain(row(r))).sort(), id);
  await alike("table-collectives", ["MPI function", "Communicator", "Ranks", "Algorithm", "Count", "Numbers", "Rounds", "Sends", "Bytes, all", "Bytes, least", "most"], report.collectives,
    (r) => [r.function, r.communicator ?? "unknown", r.ranks, r.algorithm ?? `unknown: ${r.reason}`, r.count, numbers(r), r.rounds, r.most_sent, r.bytes, r.least_bytes, r.most_bytes]);
  await alike("table-sizes", ["Message size", "Messages", "Bytes", "Arrival known", "Unexpected", "Unexpected bytes"], report.sizes,
    (r) => [r.from_bytes, r.messages, r.bytes, r.known, r.unexpected, r.unexpected_bytes]);
  await alike("table-protocols", ["MPI function", "UCP operation", "Locality", "Memory", "Protocol", "Smallest", "Largest", "Count", "Bytes"], report.protocols,
    (r) => [outside(r.function), r.op, r.locality, r.memory ?? "unknown", r.protocol, r.least_bytes, r.most_bytes, r.count, r.bytes]);
}

export async function tables(view, report, fragment, kind, all) {
  outsideMpi = nameOutside(all);
  await view.show(`view=tables&kind=${kind}&${fragment}`);
  await cross(view, report, kind);
  await paths(view, report, kind);
  await functions(view, report, kind);
  await callSites(view, report, kind);
  await callers(view, report, all);
  await operations(view, report, kind);
  await pairs(view, report, kind);
  await ways(view, report);
  await slowest(view, report, kind, fragment !== "");
  await selected(view, report, kind);
  if (!fragment || fragment.startsWith("transport")) await whole(view, all);
}

// How much of everything passes, as the report's head says it.
async function selected(view, report, kind) {
  if (!report.selected || !(await view.page.locator("#selected").count())) return;
  const said = await view.text("#selected");
  const { calls, ops, messages } = report.selected;
  const moved = sums(ofKind(report, kind), () => "all", ["count", "bytes"]).get("all") ?? { count: 0, bytes: 0 };
  for (const [noun, part] of [["MPI calls", calls], ["operations", ops], ["messages", messages]])
    if (calls.count + ops.count + messages.count + moved.count)
      assert.ok(said.includes(`${count(part.count)} of ${count(part.of)} ${noun} (${bytes(part.bytes)} of ${bytes(part.bytes_of)})`), `"${said}": ${count(part.count)} of ${count(part.of)} ${noun}`);
  if (moved.count) assert.ok(said.includes(`${count(moved.count)} of `) && said.includes(`(${bytes(moved.bytes)} of `), `"${said}": ${bytes(moved.bytes)}`);
}

export async function overview(view, report, fragment, kind) {
  await view.show(`kind=${kind}&${fragment}`);
  const wanted = sums(ofKind(report, kind).filter((r) => r.count || r.retries), (r) => `${r.transport} / ${r.device}`, ["count", "bytes"]);
  const rows = await view.page.locator(".paths button").evaluateAll((all) => all.map((row) => [...row.children].map((e) => e.textContent)));
  const shown = rows.map(([name, , size, , n]) => [name, size, n]).sort();
  assert.deepEqual(shown, [...wanted].map(([id, sum]) => [id, bytes(sum.bytes), count(sum.count)]).sort(), "transports and devices");
  const [sent, received] = [0, 1].map((end) => sums(ofKind(report, kind), (r) => ends(r)[end], ["bytes"]));
  for (const row of await view.table("processes")) {
    const { id } = report.processes.find((p) => p.pid === Number(row.Pid) && (p.rank === null || p.rank === Number(row.Rank)));
    assert.equal(Number(row.Sent), sent.get(id)?.bytes ?? 0, `sent by ${id}`);
    assert.equal(Number(row.Received), received.get(id)?.bytes ?? 0, `received by ${id}`);
  }
  await unknown(view, report);
}

async function unknown(view, report) {
  const lost = report.loss.produced - report.loss.stored;
  const wanted = lost ? `${count(lost)} of ${count(report.loss.produced)}` : `none of ${count(report.loss.produced)} records`;
  assert.ok((await view.text("#status-lost")).includes(wanted), "lost");
  const { unexplained, data_bytes } = report.attribution;
  assert.ok((await view.text("#status-unattributed")).includes(`${bytes(unexplained)} of ${bytes(data_bytes)}`), "unattributed");
  if (!report.matching) return;
  const { sends, receives, matched } = report.matching;
  const text = `${count(sends - matched)} of ${count(sends)} send`;
  assert.ok((await view.text("#status-unmatched")).includes(text), "unmatched sends");
  assert.ok((await view.text("#status-unmatched")).includes(`${count(receives - matched)} of ${count(receives)} receive`), "unmatched receives");
}

// Every square, walked over with the arrow keys.
export async function matrix(view, report, fragment, kind) {
  await view.show(`view=matrix&kind=${kind}&${fragment}`);
  const canvas = view.page.locator(".matrix-plot canvas");
  await canvas.focus();
  const wanted = sums(ofKind(report, kind).filter((r) => r.count), (r) => ends(r).join(), ["count", "bytes"]);
  const order = [...report.processes].sort((a, b) => a.host - b.host || (a.rank ?? 1e9) - (b.rank ?? 1e9) || a.id - b.id).map((p) => p.id);
  await canvas.press("ArrowUp");
  for (const [row, src] of order.entries()) {
    for (let i = 0; i < order.length; i++) {
      const dst = order[row % 2 ? order.length - 1 - i : i];
      const sum = wanted.get(`${src},${dst}`);
      const words = sum ? `: ${bytes(sum.bytes)} in ${count(sum.count)}` : ": nothing";
      const said = await view.text(".matrix-plot [aria-live]");
      assert.ok(said.endsWith(words), `matrix ${src} to ${dst}: "${said}" ends with "${words}"`);
      if (i < order.length - 1) await canvas.press(row % 2 ? "ArrowLeft" : "ArrowRight");
    }
    await canvas.press("ArrowDown");
  }
}

// Every edge, walked over with a key: from, to, transport, bytes, count.
async function edges(view) {
  const walked = await view.page.evaluate(async () => {
    const canvas = document.querySelector(".graph canvas");
    const press = (key) => {
      canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      return new Promise((done) => setTimeout(done));
    };
    await press("Escape");
    const out = [];
    for (let left = Number(canvas.getAttribute("aria-label").match(/(\d+) edges/)[1]); left > 0; left--) {
      await press("n");
      const said = document.querySelector(".graph [aria-live]");
      out.push([said.textContent, said.dataset.from, said.dataset.to, said.dataset.transport, +said.dataset.bytes, +said.dataset.count]);
    }
    return out;
  });
  return walked.map(([words, ...edge]) => {
    const [, , transport, b, n] = edge;
    assert.ok(words.includes(`${transport}: ${bytes(b)} in ${count(n)} `), `"${words}" says what the edge is`);
    return edge;
  });
}

// The process graph's edges are the pairs by transport; the device graph moves the same bytes.
export async function graphs(view, report, fragment, kind) {
  await view.show(`view=graphs&kind=${kind}&${fragment}`);
  const node = (id) => `p${id === null ? 0 : id + 1}`;
  const rows = ofKind(report, kind).filter((r) => r.count || r.retries);
  const wanted = sums(rows, (r) => [...ends(r).map(node), r.transport].join(), ["bytes", "count"]);
  if (!wanted.size) return assert.equal(await view.page.locator(".graphs .empty").count(), 1, "an empty graph says so");
  const shown = (await edges(view)).map(([src, dst, transport, b, n]) => [`${src},${dst},${transport}`, { bytes: b, count: n }]);
  assert.deepEqual(Object.fromEntries(shown.sort()), Object.fromEntries([...wanted].sort()), "process graph");
  await view.page.getByRole("radio", { name: "Devices" }).click();
  const into = (await edges(view)).filter(([, target]) => /^[pg]/.test(target)).reduce((sum, edge) => sum + edge[3], 0);
  assert.equal(into, rows.reduce((sum, row) => sum + row.bytes, 0), "device graph: bytes that arrive");
}
