// SPDX-License-Identifier: BSD-3-Clause
// One operation through all its layers, and its partner at the other end.
import { MPI, Timeline, UCP } from "./timeline";

export interface Half {
  call: number | null;
  op: number | null;
  transfers: number[];
}

export interface Chain {
  near: Half;
  more: number[]; // further operations of the call
  far: Half | null;
  arrow: { send: number; recv: number; arrival: number | null } | null;
}

const MOST = 200; // operations of one call that are shown with it

function half(timeline: Timeline, op: number): Half {
  return { call: timeline.parentOf(op), op, transfers: timeline.childrenOf(op) };
}

function withMessage(timeline: Timeline, near: Half, more: number[]): Chain {
  const message = near.op === null ? null : timeline.message(near.op);
  const other = message && (message.send === near.op ? message.recv : message.send);
  const whole = message && message.send !== null && message.recv !== null;
  return {
    near, more, far: other !== null && other !== undefined ? half(timeline, other) : null,
    arrow: whole ? { send: message.send!, recv: message.recv!, arrival: message.arrival } : null,
  };
}

export function chainOf(timeline: Timeline, event: number): Chain {
  const { layer } = timeline.lanes[timeline.events.lane[event]];
  if (layer === MPI) {
    const ops = timeline.childrenOf(event);
    const first = ops.find((op) => timeline.message(op)) ?? ops[0];
    if (first === undefined) return { near: { call: event, op: null, transfers: [] }, more: [], far: null, arrow: null };
    return withMessage(timeline, half(timeline, first), ops.filter((op) => op !== first).slice(0, MOST));
  }
  const op = layer === UCP ? event : timeline.parentOf(event);
  if (op === null) return { near: { call: null, op: null, transfers: [event] }, more: [], far: null, arrow: null };
  return withMessage(timeline, half(timeline, op), []);
}

export function members(chain: Chain): number[] {
  const of = (part: Half | null) => (part ? [part.call, part.op, ...part.transfers] : []);
  return [...of(chain.near), ...chain.more, ...of(chain.far)].filter((event): event is number => event !== null);
}
