// SPDX-License-Identifier: BSD-3-Clause
import type { Place } from "./model";

export function placeTitle(place: Place | null): string {
  if (!place) return "where it was called is not known";
  const at = place.file ? `${place.file}:${place.line ?? "?"}` : null;
  const module = place.module ? `${place.module}${place.offset ? ` + ${place.offset}` : ""}` : null;
  return [place.demangled ?? place.symbol, place.demangled && place.symbol, at, module].filter(Boolean).join("\n");
}
