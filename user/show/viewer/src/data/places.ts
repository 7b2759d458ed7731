// SPDX-License-Identifier: BSD-3-Clause
import type { Facts, Place } from "./model";

// Which library above UCP, else what its file is, else the file's name: as fact_caller().
export const callerOf = (place: Place | null) =>
  place?.library ?? (place?.role === "other" ? place.module?.split("/").pop() : place?.role) ?? "unknown";

// Who made operations outside MPI, in alphabetical order.
export function callersOutside(ops: Facts, places: (Place | null)[]): string[] {
  const [functions, at] = ["function", "place"].map((name) => ops.column(name));
  const callers = new Set<string>();
  functions.forEach((code, i) => code || callers.add(callerOf(places[at[i]])));
  return [...callers].sort();
}

// The word in place of an MPI function, as fact_outside() has it. Operations from MPI's own code belong to calls that were not seen.
export function outsideMpi(callers: string[]): string {
  const others = callers.filter((caller) => !["mpi", "mpi_plugin", "mpi_ucc"].includes(caller));
  return others.some((caller) => caller !== "unknown") ? others.join(", ") : "outside MPI";
}

export function placeTitle(place: Place | null): string {
  if (!place) return "where it was called is not known";
  const at = place.file ? `${place.file}:${place.line ?? "?"}` : null;
  const module = place.module ? `${place.module}${place.offset ? ` + ${place.offset}` : ""}` : null;
  return [place.demangled ?? place.symbol, place.demangled && place.symbol, at, module].filter(Boolean).join("\n");
}
