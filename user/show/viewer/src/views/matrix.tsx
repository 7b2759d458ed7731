// SPDX-License-Identifier: BSD-3-Clause
// Who sent how much to whom: a square per pair, rows send, columns receive.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { By, Of, pairOf, PairSums, pairSums, splitPair } from "../data/pairs";
import { meanTime } from "../data/precision";
import { current, kind, KIND_NOUNS, measure, model, option, setCodes, setOption } from "../state/state";
import { Choice } from "../ui/choice";
import { dark } from "../ui/colours";
import { bytes, count, plural, time } from "../ui/format";
import { Scale, scaleOf, shadesOf, shadeText } from "../ui/scale";
import { Splits } from "../ui/split";
import { hideTip, showTip } from "../ui/tip";
import { draw, Grid, hit, layout } from "./matrix-draw";

type Show = "measure" | "mean";

// By pair.
function valuesOf(sums: PairSums): Float64Array {
  return sums.mean ?? (measure.value === "bytes" ? sums.bytes : sums.count);
}

function write(show: Show, value: number): string {
  return show === "mean" ? time(value) : measure.value === "bytes" ? bytes(value) : count(value);
}

function label(by: By, code: number): string {
  return by === "host" ? model.hostLabels[code] : model.labels[code];
}

function longLabel(by: By, code: number): string {
  return by === "host" ? `host ${model.hostLabels[code]}` : model.longLabel(code);
}

const axes = new Map<string, number[]>();

// All processes have a row, silent ones included.
function axis(by: By, unknown: boolean): number[] {
  let codes = axes.get(`${by} ${unknown}`);
  if (codes) return codes;
  const place = new Map(model.hosts.map((host, i) => [host.id, i]));
  const of = (code: number) => model.process(code)!;
  codes = by === "host" ? model.hosts.map((host) => host.id + 1) : model.report.processes.map((_, i) => i + 1).sort(
    (a, b) => place.get(of(a).host)! - place.get(of(b).host)! || (of(a).rank ?? 1e9) - (of(b).rank ?? 1e9) || a - b);
  if (unknown) codes.push(0);
  axes.set(`${by} ${unknown}`, codes);
  return codes;
}

// An end that is not known has one only where there is such an end.
function withUnknown(by: By, { rows }: PairSums, end: Uint32Array): number[] {
  for (let i = 0; i < rows.length; i++) if (!end[rows[i]]) return axis(by, true);
  return axis(by, false);
}

function Legend({ scale, show }: { scale: Scale; show: Show }) {
  if (!scale.high) return null;
  const steps = Array.from({ length: 24 }, (_, i) => shadeText(i / 23));
  return (
    <span class="scale" role="img" aria-label={`from ${write(show, scale.low)} to ${write(show, scale.high)}`}>
      {scale.log ? write(show, scale.low) : "0"}
      <span class="ramp">{steps.map((colour) => <i style={{ background: colour }} />)}</span>
      {write(show, scale.high)}
    </span>
  );
}

function describe(of: Of, by: By, src: number, dst: number) {
  const cell = pairOf(model, current.value, of, by, src, dst);
  return (
    <>
      <h4>{longLabel(by, src)} → {longLabel(by, dst)}</h4>
      {cell ? (
        <>
          <p>
            {bytes(cell.bytes)} in {of === "messages" ? plural(cell.count, "message") : plural(cell.count, ...KIND_NOUNS[kind.value])}
            {of === "transfers" && <>; mean time {meanTime(cell)}</>}
          </p>
          <Splits splits={splitPair(model, current.value, of, by, src, dst)} />
        </>
      ) : (
        <p class="soft">nothing</p>
      )}
    </>
  );
}

interface PlotProps {
  grid: Grid;
  zoomBy: (factor: number, row: number, column: number) => void; // around a square of the grid
  zoomTo: (rows: [number, number], columns: [number, number]) => void; // squares of the grid
  of: Of;
  by: By;
  words: (src: number, dst: number) => string;
}

// A part of the rows and of the columns; ends are not in it.
interface Zoom {
  rows: [number, number];
  columns: [number, number];
}

const LEAST = 2; // rows and columns that a part has at least

function readZoom(rows: number, columns: number): Zoom | null {
  const [a, b, c, d] = option("matrix.zoom", "").split("-").map(Number);
  return a >= 0 && b > a && b <= rows && c >= 0 && d > c && d <= columns ? { rows: [a, b], columns: [c, d] } : null;
}

function setZoom(zoom: Zoom | null) {
  setOption("matrix.zoom", zoom ? [...zoom.rows, ...zoom.columns].join("-") : "");
}

// So many times as long, around a place in it; within its axis.
function scaled([from, to]: [number, number], at: number, factor: number, most: number): [number, number] {
  const length = Math.min(most, Math.max(LEAST, Math.round((to - from) * factor)));
  const start = Math.round(at - ((at - from) / (to - from)) * length);
  const first = Math.max(0, Math.min(most - length, start));
  return [first, first + length];
}

const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
};

function choose(by: By, src: number, dst: number) {
  if (by === "process") {
    setCodes("src", new Set([src]));
    setCodes("dst", new Set([dst]));
    return;
  }
  const of = (host: number) => model.labels.map((_, code) => code).filter((code) => model.hostOf(code) === host);
  setCodes("src", new Set(of(src)));
  setCodes("dst", new Set(of(dst)));
}

function Plot({ grid, of, by, words, zoomBy, zoomTo }: PlotProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<[number, number] | null>(null);
  useLayoutEffect(() => draw(canvas.current!, grid), [grid]);
  useEffect(() => hideTip, []);
  const place = (event: PointerEvent | MouseEvent) => hit(grid, canvas.current!, event.clientX, event.clientY);
  const held = useRef<[number, number] | null>(null);
  const [drawn, setDrawn] = useState<[number, number] | null>(null); // the other corner of the drawn box
  const box = held.current && drawn ? [0, 1].map((i): [number, number] => [Math.min(held.current![i], drawn[i]), Math.max(held.current![i], drawn[i]) + 1]) : null;
  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    held.current = place(event);
    setDrawn(null);
  };
  const release = () => {
    if (box && box[0][1] - box[0][0] >= LEAST && box[1][1] - box[1][0] >= LEAST) zoomTo(box[0], box[1]);
    held.current = null;
    setTimeout(() => setDrawn(null));
  };
  useEffect(() => {
    const element = canvas.current!;
    const turn = (event: WheelEvent) => {
      const found = hit(grid, element, event.clientX, event.clientY);
      if (!found || !(event.ctrlKey || event.metaKey || event.altKey)) return;
      event.preventDefault();
      zoomBy(Math.exp(event.deltaY * 0.0022), found[0], found[1]);
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  });
  const hover = (event: PointerEvent) => {
    const found = place(event);
    if (held.current) {
      if (found && (found[0] !== held.current[0] || found[1] !== held.current[1])) setDrawn(found);
      return hideTip();
    }
    if (found?.[0] !== at?.[0] || found?.[1] !== at?.[1]) setAt(found);
    if (!found) return hideTip();
    const [src, dst] = [grid.rows[found[0]], grid.columns[found[1]]];
    showTip(event.clientX, event.clientY, describe(of, by, src, dst));
  };
  const click = (event: MouseEvent) => {
    const found = drawn ? null : place(event);
    if (found) choose(by, grid.rows[found[0]], grid.columns[found[1]]);
  };
  const key = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    const middle: [number, number] = at ?? [grid.rows.length / 2, grid.columns.length / 2];
    if (event.key === "+" || event.key === "=") zoomBy(0.6, ...middle);
    if (event.key === "-") zoomBy(1 / 0.6, ...middle);
    if (event.key === "0") setZoom(null);
    if (event.key === "Enter" && at) choose(by, grid.rows[at[0]], grid.columns[at[1]]);
    if (!step) return;
    event.preventDefault();
    const within = (n: number, most: number) => Math.min(most - 1, Math.max(0, n));
    setAt(at ? [within(at[0] + step[0], grid.rows.length), within(at[1] + step[1], grid.columns.length)] : [0, 0]);
  };
  const said = at ? words(grid.rows[at[0]], grid.columns[at[1]]) : "";
  return (
    <div class="matrix-plot">
      <canvas
        ref={canvas} tabIndex={0} role="application" onKeyDown={key} onPointerMove={hover} onClick={click} onPointerDown={press} onPointerUp={release}
        onPointerLeave={() => { setAt(null); hideTip(); }}
        aria-label={`Matrix of ${grid.rows.length} senders and ${grid.columns.length} receivers. Arrow keys move, enter filters, plus and minus zoom, 0 shows all. The same numbers are in the table of pairs. ${said}`}
      />
      {box && (
        <i
          class="mark"
          style={{ left: `${grid.left + box[1][0] * grid.size}px`, top: `${grid.top + box[0][0] * grid.size}px`, width: `${(box[1][1] - box[1][0]) * grid.size}px`, height: `${(box[0][1] - box[0][0]) * grid.size}px` }}
        />
      )}
      {at && !box && (
        <i
          class="mark"
          style={{ left: `${grid.left + at[1] * grid.size - 2}px`, top: `${grid.top + at[0] * grid.size - 2}px`, width: `${grid.size + 3}px`, height: `${grid.size + 3}px` }}
        />
      )}
      <p class="hidden" aria-live="polite">{said}</p>
    </div>
  );
}

const SHADES = 64;
const HEAVIEST = 12;
const BESIDE = 312; // px that they take
const BELOW = 48; // px under it in the window

// Words for what the squares show, next to them where there is room.
function Heaviest({ sums, show, by }: { sums: PairSums; show: Show; by: By }) {
  const values = valuesOf(sums);
  const sorted: number[] = [];
  let least = -1;
  for (const row of sums.rows) {
    if (show === "mean" && !values[row]) continue; // bounds have no rank
    if (sorted.length === HEAVIEST && values[row] <= least) continue;
    sorted.push(row);
    sorted.sort((a, b) => values[b] - values[a]);
    if (sorted.length > HEAVIEST) sorted.pop();
    least = values[sorted[sorted.length - 1]];
  }
  const most = sorted.length ? values[sorted[0]] : 0;
  return (
    <div class="heaviest">
      <h3>{show === "mean" ? "Slowest" : "Heaviest"} pairs</h3>
      <ul>
        {sorted.map((row) => {
          const [src, dst] = [sums.src[row], sums.dst[row]];
          return (
            <li>
              <button type="button" title={`${longLabel(by, src)} → ${longLabel(by, dst)}`} onClick={() => choose(by, src, dst)}>
                <span class="name">{label(by, src)} → {label(by, dst)}</span>
                <span class="track"><i style={{ width: `${most ? (100 * values[row]) / most : 0}%` }} /></span>
                <span class="num">{write(show, values[row])}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

export function Matrix() {
  const by = option("matrix.by", "process") as By;
  const of = option("matrix.of", "transfers") as Of;
  const show: Show = of === "transfers" && option("matrix.show", "measure") === "mean" ? "mean" : "measure";
  const log = option("matrix.scale", "log") === "log";
  const view = current.value;
  const sums = useMemo(() => pairSums(model, view, of, by, show === "mean"), [view, of, by, show]);
  const values = valuesOf(sums);
  const scale = useMemo(() => scaleOf(values, sums.rows, log), [values, log]);
  const [room, setRoom] = useState({ width: 900, height: 600 });
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = box.current!;
    const measured = () => {
      const main = place.closest(".main");
      if (!main) return; // it has left the page
      const top = place.getBoundingClientRect().top + main.scrollTop;
      const [width, height] = [place.clientWidth - BESIDE, Math.max(320, innerHeight - top - BELOW)];
      setRoom((last) => (last.width === width && last.height === height ? last : { width, height }));
    };
    const seen = new ResizeObserver(measured);
    seen.observe(place);
    return () => seen.disconnect();
  }, []);
  const [allRows, allColumns] = [withUnknown(by, sums, sums.src), withUnknown(by, sums, sums.dst)];
  const asked = option("matrix.zoom", "");
  const zoom = useMemo(() => readZoom(allRows.length, allColumns.length), [asked, allRows, allColumns]);
  const [rows, columns] = useMemo(
    () => (zoom ? [allRows.slice(...zoom.rows), allColumns.slice(...zoom.columns)] : [allRows, allColumns]), [zoom, allRows, allColumns]);
  const squares = useMemo(() => {
    if (!zoom) return sums.rows;
    const [own, other] = [new Set(rows), new Set(columns)];
    return sums.rows.filter((row) => own.has(sums.src[row]) && other.has(sums.dst[row]));
  }, [zoom, sums, rows, columns]);
  const zoomBy = (factor: number, row: number, column: number) => {
    const now: Zoom = zoom ?? { rows: [0, allRows.length], columns: [0, allColumns.length] };
    const next: Zoom = {
      rows: scaled(now.rows, now.rows[0] + row + 0.5, factor, allRows.length),
      columns: scaled(now.columns, now.columns[0] + column + 0.5, factor, allColumns.length),
    };
    setZoom(next.rows[1] - next.rows[0] < allRows.length || next.columns[1] - next.columns[0] < allColumns.length ? next : null);
  };
  const zoomTo = (ofRows: [number, number], ofColumns: [number, number]) => {
    const [r, c] = [zoom?.rows[0] ?? 0, zoom?.columns[0] ?? 0];
    setZoom({ rows: [r + ofRows[0], r + ofRows[1]], columns: [c + ofColumns[0], c + ofColumns[1]] });
  };
  const grid = useMemo(() => layout({
    rows, columns, label: (code) => label(by, code),
    group: (code) => (by === "host" ? "" : model.hostLabels[model.hostOf(code)]),
    shades: Array.from({ length: SHADES }, (_, i) => shadeText(i / (SHADES - 1))),
    squares, src: sums.src, dst: sums.dst, shade: shadesOf(values, sums.rows, scale, SHADES), room, theme: dark.value,
  }), [sums, values, scale, room, dark.value, rows, columns, squares]);
  const words = (src: number, dst: number) => {
    const cell = pairOf(model, current.value, of, by, src, dst);
    const amount = cell ? `${bytes(cell.bytes)} in ${count(cell.count)}` : "nothing";
    return `${longLabel(by, src)} to ${longLabel(by, dst)}: ${amount}`;
  };
  const whole = { bytes: 0, count: 0 };
  for (let i = 0; i < sums.rows.length; i++) {
    const row = sums.rows[i];
    whole.bytes += sums.bytes[row];
    whole.count += sums.count[row];
  }
  return (
    <section class="card matrix" aria-label="Matrix">
      <header>
        <h2>Matrix</h2>
        <span class="soft">
          rows send, columns receive; {bytes(whole.bytes)} in {count(whole.count)} {of === "messages" ? "messages" : KIND_NOUNS[kind.value][1]}, {plural(sums.rows.length, "pair")}
        </span>
      </header>
      <div class="toolbar no-print">
        <Choice<By> label="Rows" value={by} onChange={(value) => { setOption("matrix.by", value); setZoom(null); }}
          options={[{ value: "process", label: "Processes" }, { value: "host", label: "Hosts" }]} />
        <Choice<Of> label="Facts" value={of} onChange={(value) => setOption("matrix.of", value)}
          options={[{ value: "transfers", label: "Transfers" }, { value: "messages", label: "Messages" }]} />
        {of === "transfers" && (
          <Choice<Show> label="Shade" value={show} onChange={(value) => setOption("matrix.show", value)}
            options={[{ value: "measure", label: measure.value === "bytes" ? "Bytes" : "Count" }, { value: "mean", label: "Mean time" }]} />
        )}
        <Choice<"log" | "linear"> label="Scale" value={log ? "log" : "linear"} onChange={(value) => setOption("matrix.scale", value)}
          options={[{ value: "log", label: "Log" }, { value: "linear", label: "Linear" }]} />
        <span class="buttons">
          <button type="button" class="button" aria-label="Zoom in" title="or draw a box; ctrl and wheel, +" onClick={() => zoomBy(0.6, rows.length / 2, columns.length / 2)}>+</button>
          <button type="button" class="button" aria-label="Zoom out" title="ctrl and wheel, −" onClick={() => zoomBy(1 / 0.6, rows.length / 2, columns.length / 2)}>−</button>
          {zoom && <button type="button" class="button" title="0" onClick={() => setZoom(null)}>Whole matrix</button>}
        </span>
        <Legend scale={scale} show={show} />
      </div>
      <div class="beside" ref={box}>
        <div class="room">
          {grid.rows.length === 0 ? <p class="empty">No process was traced.</p> : <Plot {...{ grid, of, by, words, zoomBy, zoomTo }} />}
        </div>
        {sums.rows.length > 0 && <Heaviest {...{ sums, show, by }} />}
      </div>
      {sums.rows.length === 0 && <p class="empty">Nothing passes the filters.</p>}
    </section>
  );
}
