// SPDX-License-Identifier: BSD-3-Clause
// Sets of kinds of operations and transfers, which operations, calls and messages caused (docs/viewer-data.md).
import { Section } from "./section";

export const UNKNOWN = 0; // code of a set that is not known

export class Causes {
  readonly kinds: number;
  readonly sets: number; // codes of sets are less
  readonly layer: Uint32Array; // by kind: 0 an operation, 1 transfers
  private parent: Uint32Array;
  private last: Uint32Array;

  constructor(private section: Section | null) {
    const wide = (name: string) => section?.wide(name) ?? new Uint32Array(0);
    [this.layer, this.parent, this.last] = ["layer", "parent", "last"].map(wide);
    this.kinds = this.layer.length;
    this.sets = this.parent.length + 1;
  }

  // Codes by kind; of processes: 0: that of the operation.
  column(name: string): Uint32Array {
    return this.section?.wide(name) ?? new Uint32Array(0);
  }

  // By code: whether it is known to have one of these kinds.
  having(kinds: Uint8Array): Uint8Array {
    const out = new Uint8Array(this.sets);
    for (let set = 1; set < this.parent.length; set++) out[set + 1] = out[this.parent[set] + 1] | kinds[this.last[set]];
    return out;
  }
}
