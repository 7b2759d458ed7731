// SPDX-License-Identifier: BSD-3-Clause
// Names come from the traced job: a spreadsheet must not take one for a formula.
export type Cell = string | number | null;

function quote(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return `${cell}`;
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

export function csv(rows: Cell[][]): string {
  return rows.map((row) => row.map(quote).join(",") + "\n").join("");
}

function copyByHand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

// From disk the clipboard may be refused, which older browsers allow the old way.
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}
