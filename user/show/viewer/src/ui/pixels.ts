// SPDX-License-Identifier: BSD-3-Clause
// Many small rectangles as pixels of one picture: a canvas takes longer for each of them.

// A colour of a style sheet (#rrggbb, rgb()) as a pixel; the lowest byte comes first.
export function packed(text: string): number {
  const [red, green, blue] = text[0] === "#"
    ? [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) : (text.match(/\d+/g) ?? []).map(Number);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

// Pictures are used again by whoever asks for the same size.
export class Paper {
  private picture: ImageData | null = null;
  pixels = new Uint32Array(0);

  of(width: number, height: number): ImageData {
    if (this.picture?.width === width && this.picture.height === height) return this.picture;
    this.picture = new ImageData(Math.max(1, width), Math.max(1, height));
    this.pixels = new Uint32Array(this.picture.data.buffer);
    return this.picture;
  }
}

// The parts of one packed colour on the way to another, 0 to 1.
export function mixed(a: number, b: number, share: number): number {
  const most = Math.round(256 * share);
  const [outer, inner] = [a & 0xff00ff, (a >> 8) & 0xff]; // red and blue, green
  const red = ((outer * (256 - most) + (b & 0xff00ff) * most) >>> 8) & 0xff00ff;
  const green = ((inner * (256 - most) + ((b >> 8) & 0xff) * most) >>> 8) & 0xff;
  return ((255 << 24) | (green << 8) | red) >>> 0;
}

// Rectangles on a part of a canvas, in pixels of CSS from its corner. The rest is left empty.
export class Sheet {
  private paper = new Paper();
  private picture = this.paper.of(1, 1);

  constructor(private width = 0, private height = 0, private ratio = 1) {}

  begin(width: number, height: number, ratio: number) {
    [this.width, this.height, this.ratio] = [Math.round(width * ratio), Math.round(height * ratio), ratio];
    this.picture = this.paper.of(this.width, this.height);
    this.paper.pixels.fill(0);
  }

  fill(left: number, top: number, right: number, bottom: number, colour: number) {
    const { width, height, ratio, paper: { pixels } } = this;
    const [from, to] = [Math.max(0, Math.round(left * ratio)), Math.min(width, Math.round(right * ratio))];
    const end = Math.min(height, Math.round(bottom * ratio));
    if (from >= to) return;
    for (let y = Math.max(0, Math.round(top * ratio)); y < end; y++)
      if (to - from < 8) for (let at = y * width + from; at < y * width + to; at++) pixels[at] = colour;
      else pixels.fill(colour, y * width + from, y * width + to);
  }

  put(context: CanvasRenderingContext2D, left: number, top: number) {
    context.putImageData(this.picture, Math.round(left * this.ratio), Math.round(top * this.ratio));
  }
}
