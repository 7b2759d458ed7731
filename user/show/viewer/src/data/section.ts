// SPDX-License-Identifier: BSD-3-Clause
// The data of the page (docs/viewer-data.md): sections, each base64 of one zlib stream, which the browser inflates.

export type Codes = Uint8Array | Uint16Array | Uint32Array | Float64Array;

export interface ColumnInfo {
  name: string;
  type: "u8" | "u16" | "u32" | "f64";
  offset: number;
  length: number;
}

export interface SectionInfo {
  name: string;
  packed: number;
  bytes: number;
  columns?: ColumnInfo[];
}

const VIEWS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

function fromBase64(text: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

async function contentOf(info: SectionInfo): Promise<Uint8Array> {
  const element = document.getElementById(`data-${info.name}`);
  if (!element) throw new Error(`this page has no section ${info.name}`);
  if (!info.bytes) return new Uint8Array(0);
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  // A failure to write is one to read, too.
  writer.write(fromBase64((element.textContent ?? "").trim()) as Uint8Array<ArrayBuffer>).catch(() => {});
  writer.close().catch(() => {});
  element.remove(); // its text is not needed any more
  const reader = stream.readable.getReader();
  const content = new Uint8Array(info.bytes);
  let at = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      content.set(part.value, at);
      at += part.value.length;
    }
  } catch {
    at = 0;
  }
  if (at !== info.bytes) throw new Error(`section ${info.name} is damaged`);
  return content;
}

const contents = new Map<string, Uint8Array>(); // inflated, until they are read

export async function inflate(sections: SectionInfo[]) {
  if (!("DecompressionStream" in globalThis)) throw new Error("it needs a browser of 2023 or later");
  await Promise.all(sections.map(async (info) => contents.set(info.name, await contentOf(info))));
}

export class Section {
  private content: Uint8Array;

  // It has been inflated.
  constructor(readonly info: SectionInfo) {
    this.content = contents.get(info.name)!;
    contents.delete(info.name);
  }

  has(name: string): boolean {
    return !!this.info.columns?.some((column) => column.name === name);
  }

  // Empty where the column is not there: older data, or a fact that has no such field.
  column(name: string): Codes {
    const column = this.info.columns?.find((c) => c.name === name);
    if (!column) return new Uint8Array(0);
    return new VIEWS[column.type](this.content.buffer as ArrayBuffer, column.offset, column.length);
  }

  // One type for all files, so that the loops over it stay fast.
  wide(name: string): Uint32Array {
    const column = this.column(name);
    return column instanceof Uint32Array ? column : Uint32Array.from(column);
  }

  json(): unknown {
    return JSON.parse(new TextDecoder().decode(this.content));
  }
}
