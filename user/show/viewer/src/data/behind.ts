// SPDX-License-Identifier: BSD-3-Clause
// Who is behind in a hang, in the words of the text report (user/show/report/text_hang.c).
import type { Behind } from "./directory";
import type { Model } from "./model";
import { openCalls } from "./waits";
import type { View } from "./view";
import type { Sentence } from "./verdict";

const NAMED = 8; // of ranks that wait for each other
const LISTED = 4; // sentences

const name = (model: Model, process: number) => {
  const known = model.process(process + 1);
  return known?.rank === null ? `pid ${known.pid}` : `rank ${model.labels[process + 1]}`;
};

export const mutual = ({ members }: Behind) => members.length > 1;

// The processes, or the rank that is not traced.
export const behindNames = (model: Model, { members, ranks }: Behind) => (members.length ? named(model, members) : `rank ${ranks[0]}`);

function named(model: Model, processes: number[]): string {
  const names = processes.slice(0, NAMED).map((process) => name(model, process));
  const rest = processes.length - names.length;
  const last = rest ? `${rest} more` : names.length > 1 ? names.pop()! : "";
  return [names.join(", "), last].filter(Boolean).join(" and ");
}

export const looked = ({ outside, reason }: Behind) => outside !== null || reason !== null;

export function behindWhere(row: Behind): string {
  if (!looked(row)) return row.members.length ? "not known where" : "not traced here";
  if (row.reason) return `not known whether in MPI: ${row.reason}`;
  return row.function ? `in ${row.function}` : row.outside ? "outside of MPI" : "not known where";
}

// The members that are in another collective than most.
function apart(model: Model, { members, apart: few }: Behind): string {
  const functionOf = (member: number) => {
    const calls = (model.report.open ?? []).filter((open) => open.process === member && open.certain);
    return calls.sort((one, other) => other.age_ns - one.age_ns)[0]?.function; // the longest, as in the text report
  };
  if (!few.length) return "";
  const most = members.find((member) => !few.includes(member))!;
  return `: ${named(model, few)} ${few.length === 1 ? "is" : "are"} in ${functionOf(few[0])}, ${members.length - few.length} others in ${functionOf(most)}`;
}

function numbers({ not_entered_sequence: number, entered }: Behind): string {
  if (number === null) return "";
  return `, number ${number} of MPI_COMM_WORLD${entered === null ? "" : `, and is at number ${entered}`}`;
}

export function behindWords(model: Model, row: Behind): string {
  const perhaps = row.certain ? "" : "perhaps ";
  const who = behindNames(model, row);
  const where = [...(looked(row) ? [row.state ?? "in an unknown state"] : []), behindWhere(row), ...(row.call_site ? [`at ${row.call_site}`] : [])].join(", ");
  const said = mutual(row) ? `${who} ${perhaps}wait for each other${apart(model, row)}`
    : `${who} ${row.not_entered ? `has ${perhaps}not entered ${row.not_entered}${numbers(row)}` : `is ${perhaps}behind`}: it is ${where}`;
  return row.waiting ? `${said}; ${row.waiting} ${row.waiting === 1 ? "rank waits" : "ranks wait"} for ${mutual(row) ? "them" : "it"}` : said;
}

// The whole capture's rows, if some call that passes the filters is open for certain, as in the text report.
export function aboutBehind(model: Model, view: View): Sentence[] {
  if (!openCalls(model, view).some((open) => open.certain)) return [];
  return (model.report.behind ?? []).slice(0, LISTED).map((row) => ({
    text: `${behindWords(model, row).replace(/^[pr]/, (first) => first.toUpperCase())}.`, tone: "warn", process: (row.members[0] ?? -1) + 1,
  }));
}
