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
            {of === "transfers" && <>; mean time {meanTime(cell.time, cell.timed, cell.precision)}</>}
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
  of: Of;
  by: By;
  words: (src: number, dst: number) => string;
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

function Plot({ grid, of, by, words }: PlotProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<[number, number] | null>(null);
  useLayoutEffect(() => draw(canvas.current!, grid), [grid]);
  useEffect(() => hideTip, []);
  const place = (event: PointerEvent | MouseEvent) => hit(grid, canvas.current!, event.clientX, event.clientY);
  const hover = (event: PointerEvent) => {
    const found = place(event);
    if (found?.[0] !== at?.[0] || found?.[1] !== at?.[1]) setAt(found);
    if (!found) return hideTip();
    const [src, dst] = [grid.rows[found[0]], grid.columns[found[1]]];
    showTip(event.clientX, event.clientY, describe(of, by, src, dst));
  };
  const click = (event: MouseEvent) => {
    const found = place(event);
    if (found) choose(by, grid.rows[found[0]], grid.columns[found[1]]);
  };
  const key = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
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
        ref={canvas} tabIndex={0} role="application" onKeyDown={key} onPointerMove={hover} onClick={click}
        onPointerLeave={() => { setAt(null); hideTip(); }}
        aria-label={`Matrix of ${grid.rows.length} senders and ${grid.columns.length} receivers. Arrow keys move, enter filters. The same numbers are in the table of pairs. ${said}`}
      />
      {at && (
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

// Words for what the squares show, next to them where there is room.
function Heaviest({ sums, show, by }: { sums: PairSums; show: Show; by: By }) {
  const values = valuesOf(sums);
  const sorted: number[] = [];
  let least = -1;
  for (const row of sums.rows) {
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
      const [width, height] = [place.clientWidth - BESIDE, Math.max(320, innerHeight - 330)];
      setRoom((last) => (last.width === width && last.height === height ? last : { width, height }));
    };
    const seen = new ResizeObserver(measured);
    seen.observe(place);
    return () => seen.disconnect();
  }, []);
  const grid = useMemo(() => layout({
    rows: withUnknown(by, sums, sums.src), columns: withUnknown(by, sums, sums.dst), label: (code) => label(by, code),
    group: (code) => (by === "host" ? "" : model.hostLabels[model.hostOf(code)]),
    shades: Array.from({ length: SHADES }, (_, i) => shadeText(i / (SHADES - 1))),
    squares: sums.rows, src: sums.src, dst: sums.dst, shade: shadesOf(values, sums.rows, scale, SHADES), room, theme: dark.value,
  }), [sums, values, scale, room, dark.value]);
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
        <Choice<By> label="Rows" value={by} onChange={(value) => setOption("matrix.by", value)}
          options={[{ value: "process", label: "Processes" }, { value: "host", label: "Hosts" }]} />
        <Choice<Of> label="Facts" value={of} onChange={(value) => setOption("matrix.of", value)}
          options={[{ value: "transfers", label: "Transfers" }, { value: "messages", label: "Messages" }]} />
        {of === "transfers" && (
          <Choice<Show> label="Shade" value={show} onChange={(value) => setOption("matrix.show", value)}
            options={[{ value: "measure", label: measure.value === "bytes" ? "Bytes" : "Count" }, { value: "mean", label: "Mean time" }]} />
        )}
        <Choice<"log" | "linear"> label="Scale" value={log ? "log" : "linear"} onChange={(value) => setOption("matrix.scale", value)}
          options={[{ value: "log", label: "Log" }, { value: "linear", label: "Linear" }]} />
        <Legend scale={scale} show={show} />
      </div>
      <div class="beside" ref={box}>
        <div class="room">
          {grid.rows.length === 0 ? <p class="empty">No process was traced.</p> : <Plot {...{ grid, of, by, words }} />}
        </div>
        {sums.rows.length > 0 && <Heaviest {...{ sums, show, by }} />}
      </div>
      {sums.rows.length === 0 && <p class="empty">Nothing passes the filters.</p>}
    </section>
  );
}
