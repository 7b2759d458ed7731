// SPDX-License-Identifier: BSD-3-Clause
// A link to the page that lies beside this one: the verdict beside the report, the report beside the verdict.

export function Beside({ label }: { label: string }) {
  const path = document.querySelector<HTMLMetaElement>("meta[name=beside]")?.content;
  if (!path) return null;
  return <a class="button plain no-print beside" href={path.split("/").map(encodeURIComponent).join("/")} title={path}>{label}</a>;
}
