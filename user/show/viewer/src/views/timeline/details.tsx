// SPDX-License-Identifier: BSD-3-Clause
// The table beside the timeline: the chosen event through the layers, and to its other end.
import type { Chain } from "../../data/chain";
import type { Timeline } from "../../data/timeline";
import { transportColour } from "../../ui/colours";
import { count } from "../../ui/format";
import { Words, wordsOf } from "./words";

const SHOWN = 12; // of a sort

function moreOf({ place, held, open, how }: Words): string {
  return [place, held && `waited ${held}`, open && "not returned", how].filter(Boolean).join(", ");
}

function Rows({ timeline, list, chosen, label, go }: {
  timeline: Timeline; list: number[]; chosen: number; label: string; go: (event: number) => void;
}) {
  return (
    <>
      {list.map((event, i) => {
        const words = wordsOf(timeline, event);
        return [
          <tr class={event === chosen ? "active chosen" : "active"} onClick={() => go(event)}>
            <td class="soft">{i === 0 ? label : ""}</td>
            <td>{words.layer}</td>
            <td>
              <button type="button" class="link" onClick={() => go(event)}>
                {words.transport && <i class="swatch" style={{ background: transportColour(words.transport) }} />}
                {words.name}
              </button>
            </td>
            <td class="num">{words.duration}</td>
            <td class="num">{words.bytes}</td>
          </tr>,
          <tr class={event === chosen ? "active more chosen-more" : "active more"} onClick={() => go(event)}>
            <td />
            <td colSpan={4}>{[`${words.who}, at ${words.start}`, moreOf(words)].filter(Boolean).join("; ")}</td>
          </tr>,
        ];
      })}
    </>
  );
}

export function Details({ timeline, event, chain, go, close }: {
  timeline: Timeline; event: number; chain: Chain; go: (event: number) => void; close: () => void;
}) {
  const list = (half: typeof chain.far) =>
    half ? [half.call, half.op, ...half.transfers.slice(0, SHOWN)].filter((e): e is number => e !== null) : [];
  const hidden = Math.max(0, chain.near.transfers.length - SHOWN) + Math.max(0, (chain.far?.transfers.length ?? 0) - SHOWN);
  const isOp = chain.near.op !== null;
  return (
    <section class="card details" aria-label="Chosen operation" aria-live="polite">
      <header>
        <h2>Through the layers</h2>
        <span class="soft">
          {!isOp ? "no UCP operation is known of it" : chain.far ? "" : "its other end is not known, or is not kept"}
        </span>
        <button type="button" class="button plain end" onClick={close}>Close</button>
      </header>
      <div class="scroll">
        <table class="data">
          <thead>
            <tr>
              {["End", "Layer", "What", "Duration", "Bytes"].map((head, i) => (
                <th scope="col" class={i >= 3 ? "num" : ""}><span class="head">{head}</span></th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Rows timeline={timeline} list={list(chain.near)} chosen={event} label="this end" go={go} />
            <Rows timeline={timeline} list={chain.more.slice(0, SHOWN)} chosen={event} label="also" go={go} />
            <Rows timeline={timeline} list={list(chain.far)} chosen={event} label="other end" go={go} />
          </tbody>
        </table>
      </div>
      {(hidden > 0 || chain.more.length > SHOWN) && (
        <p class="note">
          Not listed: {count(hidden)} transfers, {count(Math.max(0, chain.more.length - SHOWN))} operations.
        </p>
      )}
    </section>
  );
}
