// SPDX-License-Identifier: BSD-3-Clause
// The filters, next to every view: each value with how much of it passes the other filters.
import { computed } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { Dim, sizeLabel } from "../data/dims";
import type { Sort } from "../data/model";
import {
  chosen, clearAll, engine, filtered, measure, option, setCodes, setOption, settled, sizes, toggleCode,
} from "../state/state";
import { bytes, count } from "./format";
import { dark, transportColour } from "./colours";

const AT_ONCE = 12;
const OPEN = "transport,device,op,function,process";

const NONE: ReadonlySet<number> = new Set();

interface Value {
  code: number;
  amount: number;
}

interface FacetProps {
  id: string;
  label: string;
  name: (code: number) => string;
  title?: (code: number) => string;
  colour?: (code: number) => string;
  amounts: () => Float64Array;
  codes: ReadonlySet<number>;
  toggle: (code: number) => void;
  clear: () => void;
  ordered?: boolean; // by code, not by amount
}

function opened(): Set<string> {
  return new Set(option("open.facets", OPEN).split(","));
}

function setOpened(id: string, open: boolean) {
  const all = opened();
  if (all.has(id) === open) return;
  if (open) all.add(id);
  else all.delete(id);
  setOption("open.facets", [...all].join(","));
}

function values(props: FacetProps, amounts: Float64Array): Value[] {
  const out: Value[] = [];
  for (let code = 0; code < amounts.length; code++)
    if (amounts[code] || props.codes.has(code)) out.push({ code, amount: amounts[code] });
  return props.ordered ? out : out.sort((a, b) => b.amount - a.amount);
}

function Values(props: FacetProps) {
  const [search, setSearch] = useState("");
  const [all, setAll] = useState(false);
  const amounts = props.amounts();
  // What is the same as before is left as it is.
  return useMemo(() => {
    const rows = values(props, amounts);
    const wanted = search.toLowerCase();
    const fits = (row: Value) => `${props.name(row.code)} ${props.title?.(row.code) ?? ""}`.toLowerCase().includes(wanted);
    const found = wanted ? rows.filter(fits) : rows;
    const most = Math.max(1, ...found.slice(0, 2000).map((row) => row.amount));
    const write = measure.value === "bytes" ? bytes : count;
    const shown = all ? found.slice(0, 500) : found.slice(0, AT_ONCE);
    return (
      <>
        {rows.length > AT_ONCE && (
          <input
            type="search" placeholder={`Search ${count(rows.length)}`} aria-label={`Search ${props.label}`}
            value={search} onInput={(event) => setSearch(event.currentTarget.value)}
          />
        )}
        <ul>
          {shown.map(({ code, amount }) => (
            <li key={code}>
              <label class={`value ${amount ? "" : "none"}`} title={props.title?.(code) || props.name(code)}>
                <input type="checkbox" checked={props.codes.has(code)} onChange={() => props.toggle(code)} />
                <span class="name">{props.name(code)}</span>
                <span class="amount">{write(amount)}</span>
                <span class="bar">
                  <i style={{ width: `${(100 * amount) / most}%`, background: props.colour?.(code) ?? "" }} />
                </span>
              </label>
            </li>
          ))}
        </ul>
        {!rows.length && <p class="empty small">nothing here</p>}
        {found.length > shown.length && (
          <button type="button" class="button plain more" onClick={() => setAll(true)}>
            {count(found.length - shown.length)} more
          </button>
        )}
      </>
    );
  }, [amounts, props.codes, measure.value, props.colour && dark.value, search, all]);
}

function Facet(props: FacetProps) {
  const open = opened().has(props.id);
  const chosenHere = props.codes.size;
  return (
    <details
      class={`facet ${chosenHere ? "active" : ""}`} data-facet={props.id} open={open}
      onToggle={(event) => setOpened(props.id, event.currentTarget.open)}
    >
      <summary>
        {props.label}
        {chosenHere > 0 && <span class="soft">{count(chosenHere)} chosen</span>}
      </summary>
      {open && <Values {...props} />}
    </details>
  );
}

// The facts that count a dimension's values: transfers if they have it, since they move the bytes.
const SORTS: Sort[] = ["transfers", "ops", "calls", "messages"];

function amounts(dim: Dim): Float64Array {
  for (const sort of SORTS) {
    const out = settled.value.facet(sort, dim, measure.value);
    if (out) return out;
  }
  return new Float64Array(dim.values.length);
}

function DimFacet({ dim }: { dim: Dim }) {
  const colour = dim.id === "transport" ? (code: number) => transportColour(dim.values[code]) : null;
  const titles = dim.titles;
  return (
    <Facet
      id={dim.id} label={dim.label} name={(code) => dim.values[code]}
      {...(titles ? { title: (code: number) => titles[code] } : {})}
      {...(colour ? { colour } : {})}
      amounts={() => amounts(dim)} codes={chosen.value.get(dim.id) ?? NONE}
      toggle={(code) => toggleCode(dim.id, code)} clear={() => setCodes(dim.id, new Set())}
    />
  );
}

function toggleSize(code: number) {
  const next = new Set(sizes.value);
  if (!next.delete(code)) next.add(code);
  sizes.value = next;
}

const several = computed(() => new Set(
  engine.dims.filter((dim) =>
    SORTS.some((sort) => dim.columns[sort]?.some((column) => column.some((code) => code !== column[0])))),
));

// Dimensions that have only one value, and no filter, tell nothing.
function useful(dim: Dim): boolean {
  return dim.id !== "kind" && (several.value.has(dim) || !!chosen.value.get(dim.id)?.size);
}

export function Facets() {
  return (
    <aside class="side no-print" aria-label="Filters">
      <header>
        <h2>Filters</h2>
        <button type="button" class="button plain" disabled={!filtered.value} onClick={clearAll}>Clear all</button>
      </header>
      {engine.dims.filter(useful).map((dim) => <DimFacet key={dim.id} dim={dim} />)}
      <Facet
        id="size" label="Size" name={sizeLabel} ordered codes={sizes.value} toggle={toggleSize}
        clear={() => (sizes.value = new Set())}
        amounts={() => settled.value.sizes("transfers", measure.value)}
      />
    </aside>
  );
}
