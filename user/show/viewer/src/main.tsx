// SPDX-License-Identifier: BSD-3-Clause
import "./style/base.css";
import "./style/shell.css";
import "./style/table.css";
import "./style/overview.css";
import "./style/views.css";
import "./style/print.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app";
import { openPage } from "./state/state";
import { followUrl } from "./state/url";
import { printing, theme } from "./ui/colours";

function follow() {
  effect(() => {
    const wanted = printing.value ? "light" : theme.value;
    if (wanted === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = wanted;
  });
  addEventListener("beforeprint", () => (printing.value = true));
  addEventListener("afterprint", () => (printing.value = false));
}

function complain(place: HTMLElement, error: unknown) {
  const box = document.createElement("p");
  box.className = "empty";
  box.setAttribute("role", "alert");
  box.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : error}`;
  place.replaceChildren(box);
}

async function start() {
  const place = document.getElementById("app")!;
  try {
    await openPage();
    follow();
    followUrl();
    render(<App />, place);
  } catch (error) {
    complain(place, error);
    throw error;
  }
}

void start();
