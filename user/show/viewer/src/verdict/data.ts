// SPDX-License-Identifier: BSD-3-Clause
// The verdict as the page has it: docs/check.schema.json, with lines and what rules say beside it.

export const STATES = ["critical", "warning", "info", "unknown", "waived", "pass", "skip"] as const;
export type State = (typeof STATES)[number]; // worst first

type Count = number | string; // above 2^53 a string of digits

export interface End { node: string | null; rank: number; pid: number }

export interface Example {
  process: number; peer: number; by: End | null; with: End | null; op: string | null; transport: string | null;
  device: string | null; function: string | null; start_ns: Count; bytes: Count;
}

export interface Finding {
  rule: string; verdict: "pass" | "fail" | "unknown" | "skip" | "waived"; severity: "info" | "warning" | "critical";
  subject: string; count: Count; bytes: Count; share: number | null; expected: string | null; seen: string | null;
  why: string | null; examples: Example[]; cause: string | null;
}

export interface Rule { title: string; causes: string[]; remedy: string; reference: string }

// Findings that say the same of several subjects.
export interface Line {
  subject: string; finding: number; findings: number[]; subjects: number; of: number; count: Count; bytes: Count;
  differs: boolean;
}

export interface Nic { node: string; device: string; sent: Count; fetched: Count; transfers: Count }

export interface Verdict {
  site: string | null; policy_sha256: string;
  summary: Record<"pass" | "fail" | "unknown" | "skip" | "waived" | "critical" | "warning" | "nodes" | "failed_nodes"
    | "rules_judged" | "exit_status", number>;
  evidence: { complete: boolean; captures: Count; inventories: Count; records: Count; dropped: Record<string, Count>;
    transfers: Count; data_bytes: Count; unexplained_bytes: Count };
  actions: { drain: { nodes: string; reason: string; command: string[] }[]; refused: { nodes: string; why: string }[];
    nodes: number; most: number; allowed: boolean };
  nodes: { name: string; class: string | null }[];
  nics: Nic[];
  rules: Record<string, Rule>;
  lines: Line[];
  findings: Finding[];
}

export const verdict: Verdict = JSON.parse(document.getElementById("verdict")!.textContent!);

export function stateOf(finding: Finding): State {
  return finding.verdict === "fail" ? finding.severity : finding.verdict;
}

// The nodes that a subject is about: n0, n0:rank3, n0>n1, n0<>n1.
export function nodesOf(subject: string): string[] {
  return subject.split(/[<>]+/).map((end) => end.split(":")[0]);
}

// All rules, in the catalogue's order.
export const RULES = Object.keys(verdict.rules);

const worse = (a: State, b: State) => (STATES.indexOf(a) < STATES.indexOf(b) ? a : b);

// The worst verdict of each rule per node; subjects without a node count for none.
export function statesOfNodes(): Map<string, Map<string, State>> {
  const nodes = new Map(verdict.nodes.map(({ name }) => [name, new Map<string, State>()]));
  for (const finding of verdict.findings)
    for (const node of nodesOf(finding.subject)) {
      const states = nodes.get(node);
      if (!states) continue;
      const before = states.get(finding.rule), own = stateOf(finding);
      states.set(finding.rule, before ? worse(before, own) : own);
    }
  return nodes;
}

// Nodes of which all rules say the same are a row; the worst come first.
export interface Row { nodes: string[]; states: Map<string, State> }

export function rowsOfNodes(): Row[] {
  const rows = new Map<string, Row>();
  for (const [node, states] of statesOfNodes()) {
    const key = RULES.map((rule) => states.get(rule) ?? "").join();
    const row = rows.get(key);
    if (row) row.nodes.push(node);
    else rows.set(key, { nodes: [node], states });
  }
  const badness = ({ states }: Row) =>
    STATES.map((state) => String([...states.values()].filter((own) => own === state).length).padStart(3, "0")).join();
  return [...rows.values()].sort((a, b) => badness(b).localeCompare(badness(a)) || a.nodes[0].localeCompare(b.nodes[0]));
}

// n0, n1, n2, n10 → n[0-2,10]: user/base/lists.c
export function fold(names: string[]): string {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const [, prefix, digits, suffix] = /^(.*?)(\d{0,9})(\D*)$/.exec(name) ?? ["", name, "", ""];
    const key = digits ? `${prefix}\0${suffix}` : name;
    groups.set(key, [...(groups.get(key) ?? []), digits]);
  }
  return [...groups].map(([key, numbers]) => {
    const [prefix, suffix = ""] = key.split("\0");
    if (numbers.length === 1) return `${prefix}${numbers[0]}${suffix}`;
    numbers.sort((a, b) => Number(a) - Number(b) || a.length - b.length);
    const ranges: [string, string][] = [];
    for (const number of numbers) {
      const range = ranges.at(-1);
      const next = range && String(Number(range[1]) + 1).padStart(range[0].length, "0");
      if (range && next === number) range[1] = number;
      else ranges.push([number, number]);
    }
    return `${prefix}[${ranges.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join()}]${suffix}`;
  }).join(", ");
}

// NICs by node, those out of balance first.
export interface Rails { node: string; nics: Nic[]; most: number; ratio: number }

export const amount = (nic: Nic) => Number(nic.sent) + Number(nic.fetched);

export function rails(): Rails[] {
  const nodes = new Map<string, Nic[]>();
  for (const nic of verdict.nics) nodes.set(nic.node, [...(nodes.get(nic.node) ?? []), nic]);
  const list = [...nodes].map(([node, nics]) => {
    const all = nics.map(amount), sum = all.reduce((a, b) => a + b, 0), most = Math.max(...all);
    return { node, nics, most, ratio: sum ? (most * nics.length) / sum : 0 };
  });
  return list.sort((a, b) => b.ratio - a.ratio || a.node.localeCompare(b.node, "en", { numeric: true }));
}
