// SPDX-License-Identifier: BSD-3-Clause
// Shared by all drawings.

// A canvas of that many pixels of CSS, empty, to be drawn on in these whatever the screen has.
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1;
  const wanted = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wanted[0] || canvas.height !== wanted[1]) [canvas.width, canvas.height] = wanted;
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Slanting lines, to fill with.
export function hatch(context: CanvasRenderingContext2D, colour: string): CanvasPattern {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const lines = tile.getContext("2d")!;
  lines.strokeStyle = colour;
  lines.lineWidth = 2.5;
  for (const at of [-4, 4, 12]) {
    lines.moveTo(at - 6, 10);
    lines.lineTo(at + 6, -2);
  }
  lines.stroke();
  return context.createPattern(tile, "repeat")!;
}

// As much of a text as there is room for, in the canvas's font.
export function clip(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}
