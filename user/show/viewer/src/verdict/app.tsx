// SPDX-License-Identifier: BSD-3-Clause
import { Beside } from "../ui/beside";
import { bytes, count } from "../ui/format";
import { Choice } from "../ui/choice";
import { Theme, theme } from "../ui/colours";
import { RULES, verdict } from "./data";
import { Findings } from "./findings";
import { Grid, Rails } from "./grid";

const { summary, evidence, actions } = verdict;

const WORDS = ["PASS", "PASS, with warnings", "FAIL", "UNKNOWN"];
const CLASSES = ["pass", "warning", "critical", "unknown"];

// --warn-ok changes the status, not the verdict.
const status = summary.exit_status === 0 && summary.warning ? 1 : summary.exit_status;

const plural = (number: number | string, word: string) => `${count(Number(number))} ${word}${Number(number) === 1 ? "" : "s"}`;

function Head() {
  return (
    <header class="top">
      <div class="title">
        <h1>ucxbpf verdict</h1>
        <span class={`outcome ${CLASSES[status]}`}>{WORDS[status]}</span>
        <span class="what">
          {verdict.site ? `${verdict.site}: ` : ""}{plural(summary.nodes, "node")}, {summary.failed_nodes} {summary.failed_nodes === 1 ? "fails" : "fail"}
        </span>
        <div class="controls no-print">
          <Beside label="Report" />
          <Choice<Theme>
            label="Colours" value={theme.value} onChange={(value) => (theme.value = value)}
            options={[{ value: "auto", label: "Auto" }, { value: "light", label: "Light" }, { value: "dark", label: "Dark" }]}
          />
        </div>
      </div>
    </header>
  );
}

// Nothing that was recorded is missing, and the rules that judge the evidence itself (COV) had all they need.
function evidenceWord(): string {
  const open = verdict.findings.filter(({ rule, verdict: said }) => rule.startsWith("COV-") && (said === "fail" || said === "unknown"));
  const rules = [...new Set(open.map(({ rule }) => rule))];
  if (!evidence.complete) return "incomplete";
  return rules.length ? `in doubt: ${rules.join(", ")}` : "complete";
}

function Numbers() {
  const whole = evidenceWord();
  const lost = Object.values(evidence.dropped).reduce<number>((sum, own) => sum + Number(own), 0);
  const cells: [string, string, boolean][] = [
    ["critical", count(summary.critical), summary.critical > 0],
    ["warnings", count(summary.warning), summary.warning > 0],
    ["unknown", count(summary.unknown), summary.unknown > 0],
    ["waived", count(summary.waived), false],
    ["passed", count(summary.pass), false],
    ["rules judged", `${summary.rules_judged} of ${RULES.length}`, false],
    ["transfers", count(Number(evidence.transfers)), false],
    ["data", bytes(Number(evidence.data_bytes)), false],
    ["records lost", count(lost), lost > 0],
    ["evidence", whole, whole !== "complete"],
  ];
  return (
    <dl class="numbers card">
      {cells.map(([name, value, bad]) => <div><dt>{name}</dt><dd class={bad ? "bad" : ""}>{value}</dd></div>)}
    </dl>
  );
}

function quoted(word: string) {
  return word.startsWith("Reason=") ? `Reason="${word.slice(7)}"` : word;
}

function Actions() {
  if (!actions.drain.length && !actions.refused.length) return null;
  return (
    <section class="card" id="actions">
      <header><h2>Nodes to drain</h2><span class="soft">proposals; <code>ucxbpf check --apply</code> carries them out</span></header>
      {!actions.allowed && (
        <p class="warn">{actions.nodes} nodes are more than the {actions.most} that the policy allows: nothing would be
          drained. Look for what they have in common.</p>
      )}
      {actions.drain.map((one) => <pre class="command">{one.command.map(quoted).join(" ")}</pre>)}
      {actions.refused.map((one) => <p class="soft">not proposed: <span class="mono">{one.nodes}</span>, {one.why}</p>)}
    </section>
  );
}

export function App() {
  return (
    <div class="app verdict-app">
      <Head />
      <main class="main">
        <Numbers />
        <Findings />
        <Actions />
        <Grid />
        <Rails />
        <p class="soft policy">policy sha256 <span class="mono">{verdict.policy_sha256}</span>, {plural(evidence.captures, "capture")}, {" "}
          {plural(evidence.inventories, "inventory").replace("inventorys", "inventories")}, exit status {summary.exit_status}</p>
      </main>
    </div>
  );
}
