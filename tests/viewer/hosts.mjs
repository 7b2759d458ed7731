// SPDX-License-Identifier: BSD-3-Clause
// The view of hosts against the report: what ran where, with which variables, over which NICs, by which clocks.
import assert from "node:assert/strict";
import { label } from "./expected.mjs";

const words = (...cells) => cells.map((cell) => `${cell ?? ""}`).join("|");

// Hosts of one name differ by their boot ids.
function host(report, id) {
  if (id === null) return "unknown";
  const { name, boot_id } = report.hosts[id];
  return report.hosts.filter((other) => other.name === name).length > 1 ? `${name} (${boot_id.slice(0, 8)})` : name;
}

// Whatever the order.
async function same(view, id, columns, wanted) {
  const rows = (await view.table(id)).map((row) => words(...columns.map((column) => row[column])));
  assert.deepEqual(rows.sort(), wanted.map((row) => words(...row)).sort(), id);
}

// Each value of each variable, the variables that differ first.
function environment(processes) {
  const known = processes.filter((process) => process.environment);
  const all = (name) => known.map((process) => process.environment.find((variable) => variable.name === name)?.value ?? null);
  const names = [...new Set(known.flatMap((process) => process.environment.map(({ name }) => name)))];
  return names.flatMap((name) => {
    const values = all(name);
    const different = [...new Set(values)];
    return different.map((value) => [different.length, name, value ?? "not set", values.filter((other) => other === value).length]);
  });
}

export async function hosts(view, report) {
  const { processes, devices = [], nics = [], routes = [], clocks = [] } = report;
  await view.show("view=hosts&function=none");
  const wanted = environment(processes);
  await same(view, "table-environment", ["Values", "Variable", "Value", "Processes"], wanted);
  const order = (await view.table("table-environment")).map((row) => Number(row.Values));
  assert.deepEqual(order, [...order].sort((a, b) => b - a), "variables that differ come first");
  const unknown = processes.filter((process) => !process.environment).length;
  const note = await view.page.locator("#table-environment .note").allInnerTexts();
  assert.equal(note.some((text) => text.startsWith(`Not known: those of ${unknown} process`)), unknown > 0 && unknown < processes.length, "what is not known is said");
  const gpus = (id) => devices.filter((device) => device.processes.some(({ process }) => process === id)).map(({ name }) => name).join(", ");
  await same(view, "table-placement", ["Process", "Host", "Pid", "Cores", "GPUs", "Program", "Job"],
    processes.map((p) => [p.rank ?? label(report, p.id), host(report, p.host), p.pid, p.cpus ?? "not known", gpus(p.id) || "none known", p.exe, p.job ?? "none"]));
  const moved = (id, way) => nics.filter((nic) => nic.host === id && nic.direction === way).reduce((sum, nic) => sum + nic.bytes, 0);
  await same(view, "table-hosts", ["Host", "Processes", "GPUs", "Sent by NICs", "Received by NICs", "Seen for", "Boot id"], report.hosts.map((h) => [
    host(report, h.id), processes.filter((p) => p.host === h.id).length, devices.filter((d) => d.host === h.id).map((d) => d.name).join(", ") || "none known",
    moved(h.id, "out"), moved(h.id, "in"), h.span_ns, h.boot_id]));
  const sums = ["Transfers", "Bytes", "Wire bytes", "Of no known length"];
  const summed = (row) => [row.count, row.bytes, row.wire_bytes, row.bytes_unknown];
  await same(view, "table-nics", ["Host", "NIC", "Direction", ...sums], nics.map((nic) => [host(report, nic.host), nic.device, nic.direction, ...summed(nic)]));
  if (routes.length)
    await same(view, "table-routes", ["From", "Memory", "NIC", "To NIC", "To memory", "To", ...sums],
      routes.map((r) => [host(report, r.src_host), r.src_mem, r.src_nic, r.dst_nic, r.dst_mem, host(report, r.dst_host), ...summed(r)]));
  if (clocks.length)
    await same(view, "table-clocks",
      ["Host", "Other host", "Messages there", "Back", "Ahead", "Within ±", "Gains, ppb", "Within ±, ppb", "At", "Not known, since"],
      clocks.map((c) => [host(report, c.host), host(report, c.other), c.there, c.back, c.offset_ns, c.offset_uncertainty_ns, c.drift_ppb,
        c.drift_uncertainty_ppb, c.at_ns, c.reason]));
}
