// SPDX-License-Identifier: BSD-3-Clause
// The search field above the tracks.
import { useMemo, useState } from "preact/hooks";
import { Found, search } from "../../data/search";
import type { Timeline } from "../../data/timeline";
import { plural } from "../../ui/format";
import type { Layout } from "./layout";
import type { Sight } from "./sight";

export function focusSearch() {
  document.querySelector<HTMLInputElement>(".tracks-search input")?.focus();
}

// The match after the selected event in time, or before it; round the ends.
function step({ events }: Found, timeline: Timeline, selected: number | null, by: 1 | -1): number {
  const { start } = timeline.events;
  const n = events.length;
  const at = selected === null ? -1 : events.indexOf(selected);
  if (at >= 0) return (at + by + n) % n;
  if (selected === null) return by > 0 ? 0 : n - 1;
  const next = events.findIndex((event) => start[event] > start[selected]);
  return by > 0 ? Math.max(0, next) : (next <= 0 ? n : next) - 1;
}

export function SearchBox({ timeline, layout, sight, selected, go }: {
  timeline: Timeline; layout: Layout; sight: Sight; selected: number | null; go: (event: number) => void;
}) {
  const [query, setQuery] = useState("");
  const found = useMemo(() => (query.trim() ? search(timeline, query) : null), [timeline, query]);
  const at = found && selected !== null ? found.events.indexOf(selected) : -1;
  const act = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      setQuery("");
      document.querySelector<HTMLElement>(".tracks canvas")?.focus();
    } else if (event.key === "Enter" && found) {
      const track = found.process !== null ? layout.tracks.find((one) => one.process === found.process) : undefined;
      if (found.events.length) go(found.events[step(found, timeline, selected, event.shiftKey ? -1 : 1)]);
      else if (track) sight.reveal(track.y, track.height);
    } else return;
    event.preventDefault();
  };
  const words = () => {
    if (!found) return "";
    if (found.events.length) return at >= 0 ? `${at + 1} of ${plural(found.events.length, "event")}` : plural(found.events.length, "event");
    return found.process !== null && found.process > 0 && /^\s*rank\s*\d+\s*$/i.test(query) ? "Enter shows it" : "none";
  };
  return (
    <label class="tracks-search">
      <input
        type="search" placeholder="Search (key /)" aria-label="Search for a function, a call site, or a rank" value={query}
        onInput={(event) => setQuery(event.currentTarget.value)} onKeyDown={act}
      />
      <span class="soft" role="status">{words()}</span>
    </label>
  );
}
