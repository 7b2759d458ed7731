// SPDX-License-Identifier: BSD-3-Clause
// The colours of the contents of a lane.
import type { Model } from "../../data/model";
import { DEVICE, Lane, LAYER_SORTS, UCT } from "../../data/timeline";
import { actionColour, styleColour, transportColour } from "../../ui/colours";

const COLUMNS = ["function", "ucp_op", "transport", "transport"]; // by layer: what tells the colour of a fact

export class Colours {
  private transports: Set<number>;
  private keys = new Map<string, string[]>();

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

  private ofName(layer: number, code: number): string {
    const name = this.model.names[code];
    return layer >= UCT ? transportColour(name) : actionColour(name);
  }

  // A step is named after a transport in UCT lanes only, and not in all of them.
  ofStep(lane: Lane, code: number): string {
    if (lane.layer === DEVICE) return transportColour(this.model.names[lane.transport]);
    if (lane.layer === UCT && !this.transports.has(code)) return styleColour("faint");
    return this.ofName(lane.layer, code);
  }
}
