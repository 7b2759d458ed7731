// SPDX-License-Identifier: BSD-3-Clause
// Where the squares of a matrix are, and drawing them.
import { styleColour } from "../ui/colours";
import { clip, fit } from "../ui/canvas";
import { Paper, packed } from "../ui/pixels";

export interface GridInput {
  rows: number[];
  columns: number[];
  label: (code: number) => string;
  group: (code: number) => string; // host: a line parts two groups
  shades: string[];
  squares: Uint32Array; // pairs, by which these have:
  src: Uint32Array;
  dst: Uint32Array;
  shade: Uint8Array; // from 1; 0: none
  room: { width: number; height: number };
  theme: boolean;
}

export interface Grid extends GridInput {
  size: number; // of a square, px
  left: number;
  top: number;
  places: { row: Uint32Array; column: Uint32Array }; // by code
}

const FONT = "11px system-ui, sans-serif";
const LONGEST = 150;
const LARGEST = [150, 120, 96, 72]; // of 2 rows, 5, 8, and more
const TITLE = 16; // "receivers" above the columns

let meter: CanvasRenderingContext2D | null = null;
const widths = new Map<string, number>();

function width(text: string): number {
  let px = widths.get(text);
  if (px !== undefined) return px;
  meter ??= document.createElement("canvas").getContext("2d")!;
  meter.font = FONT;
  widths.set(text, (px = meter.measureText(text).width));
  return px;
}

// Shared by all rows, or by all columns: lists of codes stay the same while filters change.
interface Axis {
  widest: number; // label, px
  groups: number;
  place: Uint32Array; // by code
}

const axes = new WeakMap<number[], Axis>();

function axisOf(codes: number[], { label, group }: Pick<GridInput, "label" | "group">): Axis {
  let axis = axes.get(codes);
  if (axis) return axis;
  const place = new Uint32Array(codes.reduce((most, code) => Math.max(most, code), 0) + 1);
  codes.forEach((code, i) => (place[code] = i));
  const widest = codes.reduce((px, code) => Math.max(px, Math.min(LONGEST, width(label(code)))), 0);
  axes.set(codes, (axis = { widest, groups: new Set(codes.map(group)).size, place }));
  return axis;
}

export function layout(input: GridInput): Grid {
  const { rows, columns, room } = input;
  const [down, across] = [axisOf(rows, input), axisOf(columns, input)];
  const groups = down.groups > 1 ? 18 : 0;
  const left = Math.ceil(down.widest) + 12 + groups;
  const text = Math.ceil(across.widest);
  const fit = Math.min((room.width - left - 8) / columns.length, (room.height - TITLE - 30) / rows.length, LARGEST[Math.min(3, Math.floor(rows.length / 3))]);
  // Labels of columns lie flat where there is room, else they stand.
  const top = TITLE + groups + (text + 6 <= fit ? 18 : text + 10);
  const size = Math.max(1, Math.floor(Math.min(fit, Math.max(1, (room.height - top) / rows.length))));
  return { ...input, size, left, top, places: { row: down.place, column: across.place } };
}

const paper = new Paper();

// Squares without gaps between them are pixels.
function dots(context: CanvasRenderingContext2D, grid: Grid, ratio: number) {
  const { size, left, top, columns, rows } = grid;
  const [width, height] = [columns.length, rows.length].map((n) => Math.round(n * size * ratio));
  const picture = paper.of(width, height);
  const { pixels } = paper;
  pixels.fill(packed(styleColour("gap")));
  const colours = Uint32Array.from(grid.shades, packed);
  const edges = Uint32Array.from({ length: Math.max(columns.length, rows.length) + 1 }, (_, i) => Math.round(i * size * ratio));
  const { squares, shade, src, dst, places: { row, column } } = grid;
  const single = edges[1] === 1 && width === columns.length;
  for (let i = 0; i < squares.length; i++) {
    const pair = squares[i];
    if (!shade[pair]) continue;
    const x = column[dst[pair]];
    const y = row[src[pair]];
    const colour = colours[shade[pair] - 1];
    if (single) pixels[y * width + x] = colour;
    else
      for (let line = edges[y]; line < edges[y + 1]; line++)
        pixels.fill(colour, line * width + edges[x], line * width + edges[x + 1]);
  }
  context.putImageData(picture, Math.round(left * ratio), Math.round(top * ratio));
}

function squares(context: CanvasRenderingContext2D, grid: Grid, ratio: number) {
  const { size, left, top } = grid;
  const gap = size > 5 ? 1 : 0;
  if (!gap) return dots(context, grid, ratio);
  context.fillStyle = styleColour("gap");
  context.fillRect(left, top, size * grid.columns.length - gap, size * grid.rows.length - gap);
  if (grid.rows.length <= 64) {
    context.fillStyle = styleColour("paper");
    for (let i = 1; i < grid.columns.length; i++) context.fillRect(left + i * size - 1, top, 1, size * grid.rows.length);
    for (let i = 1; i < grid.rows.length; i++) context.fillRect(left, top + i * size - 1, size * grid.columns.length, 1);
  }
  // By shade, since setting a colour costs more than a square.
  const byShade: number[][] = grid.shades.map(() => []);
  const { row, column } = grid.places;
  for (const pair of grid.squares)
    byShade[grid.shade[pair] - 1]?.push(left + column[grid.dst[pair]] * size, top + row[grid.src[pair]] * size);
  byShade.forEach((places, shade) => {
    context.fillStyle = grid.shades[shade];
    for (let i = 0; i < places.length; i += 2) context.fillRect(places[i], places[i + 1], size - gap, size - gap);
  });
}

function labels(context: CanvasRenderingContext2D, grid: Grid) {
  const { size, left, top, rows, columns } = grid;
  let every = 1; // a power of two, as ranks are counted
  while (every * size < 14) every *= 2;
  context.font = FONT;
  context.fillStyle = styleColour("soft");
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (let i = 0; i < rows.length; i += every)
    context.fillText(clip(context, grid.label(rows[i]), LONGEST), left - 6, top + (i + 0.5) * size);
  const flat = axisOf(columns, grid).widest + 6 <= size;
  context.textAlign = flat ? "center" : "left";
  for (let i = 0; i < columns.length; i += every) {
    const text = clip(context, grid.label(columns[i]), LONGEST);
    context.save();
    context.translate(left + (i + 0.5) * size, top - (flat ? 9 : 5));
    if (!flat) context.rotate(-Math.PI / 2);
    context.fillText(text, 0, 0);
    context.restore();
  }
}

// Runs of one group.
function* runs(codes: number[], group: (code: number) => string): Generator<[number, number]> {
  for (let from = 0; from < codes.length; ) {
    let to = from + 1;
    while (to < codes.length && group(codes[to]) === group(codes[from])) to++;
    yield [from, to];
    from = to;
  }
}

const UPRIGHT = [true, false]; // along the rows, then along the columns

// Brackets of hosts along both sides.
function brackets(context: CanvasRenderingContext2D, grid: Grid) {
  const { rows, size, left, top, columns } = grid;
  if (axisOf(rows, grid).groups < 2) return;
  const text = Math.ceil(axisOf(columns, grid).widest);
  const edge = text + 6 <= size ? 18 : text + 10;
  for (const upright of UPRIGHT) {
    const codes = upright ? rows : columns;
    const all = [...runs(codes, grid.group)];
    const every = namedEvery(grid, codes, all);
    for (const [i, [from, to]] of all.entries()) {
      const end = every > 1 ? all[Math.min(all.length, i + every) - 1][1] : to; // up to the next name
      bracket(context, grid, upright, from, to, edge, i % every ? 0 : (end - from) * size - 6);
    }
  }
  context.strokeStyle = styleColour("line-strong");
  context.lineWidth = 1;
  context.strokeRect(left - 1.5, top - 1.5, columns.length * size + 2, rows.length * size + 2);
}

// Hosts with few squares are named now and then, a power of two apart.
function namedEvery({ size, group }: Grid, codes: number[], all: [number, number][]): number {
  const room = (codes.length / all.length) * size - 6;
  const widest = all.reduce((px, [from]) => Math.max(px, width(group(codes[from]))), 0);
  let every = 1;
  if (room <= NAME) while (every * (room + 6) < Math.min(LONGEST, widest) + 12) every *= 2;
  return every;
}

const NAME = 24; // px, the least room for a name

// room: for its name, px.
function bracket(context: CanvasRenderingContext2D, grid: Grid, upright: boolean, from: number, to: number, edge: number, room: number) {
  const { size, left, top } = grid;
  const name = grid.group((upright ? grid.rows : grid.columns)[from]);
  context.save();
  context.translate(upright ? 8 : left, upright ? top : top - edge - 8);
  if (upright) context.transform(0, 1, -1, 0, 0, 0); // along the rows
  context.fillStyle = styleColour("faint");
  context.fillRect(from * size + 1, upright ? -8 : 8, (to - from) * size - 3, 1);
  const own = (to - from) * size - 6;
  context.textAlign = room > own ? "left" : "center";
  context.textBaseline = "middle";
  if (room > NAME) context.fillText(clip(context, name, room), room > own ? from * size + 1 : ((from + to) / 2) * size, 0);
  context.restore();
}

// Lines between hosts; they would hide what small squares show.
function lines(context: CanvasRenderingContext2D, grid: Grid) {
  const { rows, size, left, top, columns } = grid;
  if (size < 6 || axisOf(rows, grid).groups < 2) return;
  context.fillStyle = styleColour("paper");
  for (const [from] of runs(rows, grid.group)) if (from) context.fillRect(left, top + from * size - 1, columns.length * size, 2);
  for (const [from] of runs(columns, grid.group)) if (from) context.fillRect(left + from * size - 1, top, 2, rows.length * size);
}

// The frame of a canvas around its squares, which most filters do not change.
const around = new WeakMap<HTMLCanvasElement, Grid & { ratio: number }>();

function alike(a: Grid, b: Grid): boolean {
  return a.rows === b.rows && a.columns === b.columns && a.size === b.size && a.left === b.left && a.top === b.top && a.theme === b.theme;
}

function frame(canvas: HTMLCanvasElement, grid: Grid, ratio: number): CanvasRenderingContext2D {
  const width = grid.left + grid.columns.length * grid.size + 8;
  const height = grid.top + grid.rows.length * grid.size + 4;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = fit(canvas, width, height);
  labels(context, grid);
  brackets(context, grid);
  around.set(canvas, { ...grid, ratio });
  return context;
}

export function draw(canvas: HTMLCanvasElement, grid: Grid) {
  const ratio = devicePixelRatio || 1;
  const before = around.get(canvas);
  const { left, top, size, rows, columns } = grid;
  const context = before?.ratio === ratio && alike(before, grid) ? canvas.getContext("2d")! : frame(canvas, grid, ratio);
  context.clearRect(left, top, columns.length * size, rows.length * size);
  squares(context, grid, ratio);
  lines(context, grid);
}

export function hit(grid: Grid, canvas: HTMLCanvasElement, x: number, y: number): [number, number] | null {
  const box = canvas.getBoundingClientRect();
  const row = Math.floor((y - box.top - grid.top) / grid.size);
  const column = Math.floor((x - box.left - grid.left) / grid.size);
  return row >= 0 && column >= 0 && row < grid.rows.length && column < grid.columns.length ? [row, column] : null;
}
