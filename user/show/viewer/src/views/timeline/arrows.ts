// SPDX-License-Identifier: BSD-3-Clause
// The messages of the chosen time, as lines from the operation that sends to the one that receives.
import type { Filter } from "../../data/filter";
import type { Timeline } from "../../data/timeline";
import { chosenTime } from "./chosen";
import type { Arrow } from "./scene";

export const MOST = 400; // that are drawn

export const NONE: Arrow[] = [];

// Those whose send begins in the chosen time, and passes the filters.
export function arrowsOf(timeline: Timeline, filter: Filter): Arrow[] {
  const time = chosenTime(timeline);
  if (!time) return NONE;
  const out: Arrow[] = [];
  const fails = filter.fails("ops");
  const { events, lanes } = timeline;
  for (let i = 0; i < timeline.links && out.length < MOST; i++) {
    const { send, recv, arrival } = timeline.link(i);
    if (send === null || recv === null || fails[events.key[send]]) continue;
    const { from, to } = time(lanes[events.lane[send]].host);
    if (events.start[send] >= from && events.start[send] < to) out.push({ send, recv, arrival });
  }
  return out;
}
