// SPDX-License-Identifier: BSD-3-Clause
import { signal } from "@preact/signals";
import { bytes, count } from "../ui/format";
import { End, Example, Finding, Line, State, STATES, verdict } from "./data";
import { candidates, filtered, findingsOf, node, open, reset, rule, shown, stateOfLine, states, toggle } from "./state";
import { Mark, WORDS } from "./marks";

const STEP = 200; // rows at a time
const MEMBERS = 500;
const room = signal(STEP);

const size = (value: number | string) => bytes(Number(value));
const percent = (share: number) => `${+(100 * share).toPrecision(3)} %`;
const exact = (value: number | string) => count(Number(value));

function Filters() {
  const counts = new Map<State, number>();
  for (const at of candidates.value) {
    const state = stateOfLine(verdict.lines[at]);
    counts.set(state, (counts.get(state) ?? 0) + findingsOf(verdict.lines[at]).length);
  }
  const press = (state: State) =>
    (states.value = STATES.filter((own) => states.value.includes(own) !== (own === state)));
  const rules = [...new Set(verdict.findings.map((finding) => finding.rule))];
  return (
    <div class="filters no-print">
      <div class="states" role="group" aria-label="Verdicts shown">
        {STATES.map((state) => (
          <button
            type="button" class={`button state ${state}`} aria-pressed={states.value.includes(state)}
            disabled={!counts.get(state)} onClick={() => press(state)}
          >
            {WORDS[state]} <span class="soft">{counts.get(state) ?? 0}</span>
          </button>
        ))}
      </div>
      <label>Rule <select value={rule.value} onChange={(event) => (rule.value = event.currentTarget.value)}>
        <option value="">all</option>
        {rules.map((id) => <option value={id}>{id} {verdict.rules[id].title}</option>)}
      </select></label>
      <label>Node <input
        type="search" list="nodes" placeholder="all" value={node.value} size={14}
        onInput={(event) => (node.value = event.currentTarget.value.trim())}
      /></label>
      <datalist id="nodes">{verdict.nodes.map(({ name }) => <option value={name} />)}</datalist>
      <button type="button" class="button plain" disabled={!filtered.value} onClick={reset}>Reset</button>
    </div>
  );
}

const KINDS: [RegExp, string][] = [[/[<>]/, "pairs"], [/:rank/, "ranks"], [/:gpu/, "GPUs"], [/:/, "NICs"]];
const kindOf = (subject: string) => KINDS.find(([pattern]) => pattern.test(subject))?.[1] ?? "nodes";

// For passing rules: how much was checked, and how much of it deviated, if any.
function looked(line: Line, { share }: Finding): string[] {
  if (!Number(line.bytes)) return [];
  return [`${size(line.bytes)} looked at`, ...(share && line.subjects === 1 ? [`${percent(share)} of it otherwise`] : [])];
}

function concerned(line: Line, { examples, share }: Finding): string[] {
  return [
    ...(examples.length ? [`${exact(line.count)} transfer${Number(line.count) === 1 ? "" : "s"}`] : []),
    ...(Number(line.bytes) ? [size(line.bytes)] : []), ...(share !== null && line.subjects === 1 ? [percent(share)] : []),
  ];
}

function Amount({ line, finding }: { line: Line; finding: Finding }) {
  const passed = finding.verdict === "pass";
  return (
    <>
      <span class={passed ? "soft" : ""}>{(passed ? looked : concerned)(line, finding).join(", ")}</span>
      {line.of > 1 && <div class="soft">{line.subjects} of {line.of} {kindOf(finding.subject)}</div>}
    </>
  );
}

function What({ line, finding }: { line: Line; finding: Finding }) {
  if (finding.why !== null) return <>{finding.why}</>;
  if (finding.seen === null) return <span class="soft">as expected</span>;
  return (
    <>
      {line.differs && <span class="soft">e.g. </span>}{finding.seen}
      <div class="soft">expected {finding.expected}</div>
    </>
  );
}

const end = (process: End | null) =>
  process ? `${process.node ?? "?"}${process.rank < 0 ? ` pid ${process.pid}` : ` rank ${process.rank}`}` : "in no capture";

function Examples({ list }: { list: Example[] }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Examples">
      <table class="data">
        <thead><tr>
          {["by", "with", "operation", "path", "MPI function"].map((name) => <th scope="col">{name}</th>)}
          {["bytes", "at"].map((name) => <th scope="col" class="num">{name}</th>)}
        </tr></thead>
        <tbody>{list.map((one) => (
          <tr>
            <td>{end(one.by)}</td><td>{end(one.with)}</td><td>{one.op ?? "?"}</td>
            <td>{one.transport ?? "?"}/{one.device ?? "?"}</td><td>{one.function ?? "-"}</td>
            <td class="num">{exact(one.bytes)}</td><td class="num">{exact(one.start_ns)} ns</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

function Members({ line }: { line: Line }) {
  const list = line.findings.slice(0, MEMBERS).map((at) => verdict.findings[at]);
  return (
    <>
      <h3>Each of {line.findings.length}</h3>
      <div class="scroll members" tabIndex={0} role="region" aria-label="Findings of this line">
        <table class="data">
          <thead><tr><th scope="col">subject</th><th scope="col">seen</th><th scope="col" class="num">bytes</th></tr></thead>
          <tbody>{list.map((one) => (
            <tr><td>{one.subject}</td><td>{one.why ?? one.seen ?? "as expected"}</td><td class="num">{exact(one.bytes)}</td></tr>
          ))}</tbody>
        </table>
      </div>
      {line.findings.length > MEMBERS && <p class="note">The others are in the JSON form.</p>}
    </>
  );
}

function Details({ line, finding }: { line: Line; finding: Finding }) {
  const said = verdict.rules[finding.rule];
  return (
    <div class="details">
      <dl class="pairs">
        <dt>rule</dt><dd>{finding.rule}: {said.title}</dd>
        {finding.seen !== null && <><dt>seen</dt><dd>{finding.seen}</dd></>}
        {finding.expected !== null && <><dt>expected</dt><dd>{finding.expected}</dd></>}
        {finding.why !== null && <><dt>because</dt><dd>{finding.why}</dd></>}
        {finding.cause !== null
          ? <><dt>cause</dt><dd><b>{finding.cause}</b></dd></>
          : <><dt>likely causes</dt><dd><ol>{said.causes.map((cause) => <li>{cause}</li>)}</ol></dd></>}
        <dt>what to do</dt><dd>{said.remedy}</dd>
        <dt>seen before in</dt><dd>{said.reference}</dd>
      </dl>
      {finding.examples.length > 0 && <><h3>For example</h3><Examples list={finding.examples} /></>}
      {line.findings.length > 1 && <Members line={line} />}
    </div>
  );
}

function LineRows({ at }: { at: number }) {
  const line = verdict.lines[at], finding = verdict.findings[line.finding], isOpen = open.value.includes(at);
  const failed = finding.verdict === "fail";
  return (
    <>
      <tr class={`finding ${isOpen ? "open" : ""}`} onClick={() => toggle(at)}>
        <td>
          <button
            type="button" class="opener" aria-expanded={isOpen} aria-controls={`details-${at}`}
            aria-label={`${finding.rule} of ${line.subject}`}
            onClick={(event) => (event.stopPropagation(), toggle(at))}
          />
          <Mark state={stateOfLine(line)} />
        </td>
        <td class="rule"><span class="mono">{finding.rule}</span><br /><span class="soft">{verdict.rules[finding.rule].title}</span></td>
        <td class="subject mono">{line.subject}</td>
        <td><What line={line} finding={finding} /></td>
        <td class="amount"><Amount line={line} finding={finding} /></td>
        <td>{finding.cause ?? (failed && <><span class="soft">likely: </span>{verdict.rules[finding.rule].causes[0]}</>)}</td>
      </tr>
      {isOpen && <tr id={`details-${at}`} class="opened"><td colSpan={6}><Details line={line} finding={finding} /></td></tr>}
    </>
  );
}

// Arrows go from line to line, as in a list; Escape closes.
function move(event: KeyboardEvent) {
  const openers = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>(".opener")];
  const at = openers.indexOf(document.activeElement as HTMLElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (at < 0) return;
  if (step) {
    event.preventDefault();
    openers[Math.min(Math.max(at + step, 0), openers.length - 1)].focus();
  } else if (event.key === "Escape" && openers[at].getAttribute("aria-expanded") === "true") openers[at].click();
}

export function Findings() {
  const rows = shown.value.slice(0, room.value), left = shown.value.length - rows.length;
  return (
    <section class="card table-card" id="findings">
      <header>
        <h2>Findings</h2>
        <span class="soft" role="status">{shown.value.length} of {verdict.lines.length} lines, {verdict.findings.length} findings</span>
      </header>
      <Filters />
      {rows.length === 0 && <p class="empty">Nothing of that kind.</p>}
      {rows.length > 0 && (
        <div class="scroll">
          <table class="data findings" onKeyDown={move}>
            <thead><tr>
              {["verdict", "rule", "subject", "observed", "how much", "cause"].map((name) => <th scope="col">{name}</th>)}
            </tr></thead>
            <tbody>{rows.map((at) => <LineRows key={at} at={at} />)}</tbody>
          </table>
        </div>
      )}
      {left > 0 && <button type="button" class="button" onClick={() => (room.value += STEP)}>{left} more</button>}
    </section>
  );
}
