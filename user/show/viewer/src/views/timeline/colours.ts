// SPDX-License-Identifier: BSD-3-Clause
// The colours of the contents of a lane.
import type { Model } from "../../data/model";
import { DEVICE, Lane, LAYER_SORTS, UCT } from "../../data/timeline";
import { actionColour, styleColour, transportColour } from "../../ui/colours";
import { packed } from "../../ui/pixels";

const COLUMNS = ["function", "ucp_op", "transport", "transport"]; // by layer: what tells the colour of a fact

export class Colours {
  private transports: Set<number>;
  private keys = new Map<string, string[]>();
  private packedKeys = new Map<string[], Uint32Array>();
  private steps = new Map<string, number[]>();

  constructor(private model: Model) {
    this.transports = new Set(model.facts.transfers.column("transport"));
  }

  // By key of the layer's facts; made anew for each theme.
  ofKeys(layer: number): string[] {
    const id = `${layer}${styleColour("paper")}`;
    let out = this.keys.get(id);
    if (!out) {
      const codes = this.model.facts[LAYER_SORTS[layer]].column(COLUMNS[layer]);
      this.keys.set(id, (out = Array.from(codes, (code) => this.ofName(layer, code))));
    }
    return out;
  }

  ofKeysPacked(layer: number): Uint32Array {
    const colours = this.ofKeys(layer);
    let out = this.packedKeys.get(colours);
    if (!out) this.packedKeys.set(colours, (out = Uint32Array.from(colours, packed)));
    return out;
  }

  private ofName(layer: number, code: number): string {
    const name = this.model.names[code];
    return layer >= UCT ? transportColour(name) : actionColour(name);
  }

  // By the name of a step, packed.
  ofSteps(lane: Lane): (code: number) => number {
    const id = `${lane.layer} ${lane.transport} ${styleColour("paper")}`;
    let known = this.steps.get(id);
    if (!known) this.steps.set(id, (known = []));
    const of = known;
    return (code) => (of[code] ??= packed(this.ofStep(lane, code)));
  }

  // A step is named after a transport in UCT lanes only, and not in all of them.
  private ofStep(lane: Lane, code: number): string {
    if (lane.layer === DEVICE) return transportColour(this.model.names[lane.transport]);
    if (lane.layer === UCT && !this.transports.has(code)) return styleColour("faint");
    return this.ofName(lane.layer, code);
  }
}
