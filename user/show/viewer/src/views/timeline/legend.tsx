// SPDX-License-Identifier: BSD-3-Clause
// The meaning of the colours that occur.
import { combinationsOf } from "../../data/combinations";
import { model } from "../../state/state";
import { actionColour, ACTIONS, mpiColour, transportColour, waitingColour } from "../../ui/colours";

function namesIn(column: Uint32Array): (string | null)[] {
  return Array.from(combinationsOf([column]).codes[0], (code) => model.names[code]);
}

function actionNames(): (string | null)[] {
  const { calls, ops } = model.facts;
  return [calls.column("function"), ops.column("ucp_op")].flatMap(namesIn);
}

export function Legend() {
  const transports = namesIn(model.facts.transfers.column("transport"));
  const seen = new Set(actionNames().map(actionColour));
  const actions = ACTIONS.filter(([, name]) => seen.has(actionColour(name)));
  return (
    <div class="legend timeline-legend">
      <span class="soft">MPI, UCP</span>
      {actions.map(([label, name]) => <span><i class="swatch" style={{ background: actionColour(name) }} />{label}</span>)}
      {model.facts.calls.cells("waited").some((ns) => ns > 0) && (
        <span title="the lower part of an MPI call: time in which it waited for another process"><i class="swatch" style={{ background: waitingColour() }} />waiting for another process</span>
      )}
      {(model.report.open?.length ?? 0) > 0 && <span title="hatched until the process was last seen"><i class="swatch hatched" />not returned</span>}
      <span class="soft">UCT, devices</span>
      {transports.map((name) => <span title={name ?? ""}><i class="swatch" style={{ background: transportColour(name) }} />{name ?? "unknown"}</span>)}
      <span class="soft">control, copies: half as high</span>
      <span class="soft">Whole run</span>
      <span title="the strip above the tracks: the share of all processes that is in an MPI call"><i class="swatch" style={{ background: mpiColour() }} />in MPI</span>
    </div>
  );
}
