// SPDX-License-Identifier: BSD-3-Clause
import "../style/base.css";
import "../style/shell.css";
import "../style/table.css";
import "../style/print.css";
import "./verdict.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { printing, theme } from "../ui/colours";
import { App } from "./app";
import { followUrl } from "./state";

effect(() => {
  const wanted = printing.value ? "light" : theme.value;
  if (wanted === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
});
addEventListener("beforeprint", () => (printing.value = true));
addEventListener("afterprint", () => (printing.value = false));
followUrl();
render(<App />, document.getElementById("app")!);
