// SPDX-License-Identifier: BSD-3-Clause
// Nodes and rules at one glance; nodes of which all rules say the same share a row.
import { signal } from "@preact/signals";
import { amount, fold, rails, RULES, rowsOfNodes, State, STATES, verdict } from "./data";
import { look, node } from "./state";
import { SIGNS, WORDS } from "./marks";
import { bytes, count } from "../ui/format";

const STEP = 40;
const room = signal(STEP), railRoom = signal(STEP);

const rows = rowsOfNodes();
// A rule that says nothing of any node has no column.
const columns = RULES.filter((rule) => rows.some(({ states }) => states.has(rule)));
const allRails = rails();

function Cell({ state, rule, nodes }: { state: State | undefined; rule: string; nodes: string[] }) {
  if (!state) return <td class="none" />;
  const title = `${fold(nodes)}: ${rule} ${verdict.rules[rule].title}: ${WORDS[state]}`;
  return (
    <td>
      <button type="button" class={`cell ${state}`} title={title} aria-label={title} onClick={() => look({ node: nodes[0], rule })}>
        {SIGNS[state]}
      </button>
    </td>
  );
}

export function Grid() {
  if (!rows.length || !columns.length) return null;
  return (
    <section class="card" id="grid">
      <header>
        <h2>Nodes and rules</h2>
        <span class="soft">
          {verdict.nodes.length} node{verdict.nodes.length === 1 ? "" : "s"}
          {rows.length < verdict.nodes.length && `, ${rows.length} of them different: those alike share a row`}
        </span>
      </header>
      <div class="scroll">
        <table class="grid">
          <thead><tr>
            <th scope="col">node</th>
            {columns.map((rule) => (
              <th scope="col"><button type="button" title={verdict.rules[rule].title} onClick={() => look({ rule })}><span>{rule}</span></button></th>
            ))}
          </tr></thead>
          <tbody>{rows.slice(0, room.value).map(({ nodes, states }) => (
            <tr>
              <th scope="row">
                <button type="button" title={fold(nodes)} onClick={() => look({ node: nodes[0] })}>{fold(nodes)}</button>
                {nodes.length > 1 && <span class="soft"> {nodes.length}</span>}
              </th>
              {columns.map((rule) => <Cell state={states.get(rule)} rule={rule} nodes={nodes} />)}
            </tr>
          ))}</tbody>
        </table>
      </div>
      {rows.length > room.value && (
        <button type="button" class="button" onClick={() => (room.value += STEP)}>{rows.length - room.value} more</button>
      )}
      <p class="legend">{STATES.map((state) => <span><span class={`cell ${state}`} aria-hidden="true">{SIGNS[state]}</span> {WORDS[state]}</span>)}</p>
    </section>
  );
}

export function Rails() {
  const list = allRails.filter((one) => !node.value || one.node === node.value);
  if (!list.length) return null;
  const most = Math.max(...list.map((one) => one.most), 1);
  return (
    <section class="card table-card" id="rails">
      <header><h2>NICs</h2><span class="soft">payload that a node's processes sent or fetched by each</span></header>
      <div class="scroll">
        <table class="data rails">
          <thead><tr>
            {["node", "NIC", "both"].map((name) => <th scope="col">{name}</th>)}
            {["sent", "fetched", "transfers", "max/mean"].map((name) => <th scope="col" class="num">{name}</th>)}
          </tr></thead>
          <tbody>{list.slice(0, railRoom.value).flatMap(({ node: name, nics, ratio }) => nics.map((nic, at) => (
            <tr>
              {at === 0 && <th scope="rowgroup" rowSpan={nics.length}>{name}</th>}
              <td class="mono">{nic.device}</td>
              <td class="track"><meter min={0} max={most} value={amount(nic)}>{bytes(amount(nic))}</meter></td>
              <td class="num">{bytes(Number(nic.sent))}</td><td class="num">{bytes(Number(nic.fetched))}</td>
              <td class="num">{count(Number(nic.transfers))}</td>
              {at === 0 && <td class="num" rowSpan={nics.length}>{nics.length > 1 ? ratio.toFixed(2) : "-"}</td>}
            </tr>
          )))}</tbody>
        </table>
      </div>
      {list.length > railRoom.value && (
        <button type="button" class="button" onClick={() => (railRoom.value += STEP)}>{list.length - railRoom.value} more</button>
      )}
    </section>
  );
}
