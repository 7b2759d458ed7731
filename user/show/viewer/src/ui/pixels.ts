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
