// Menus and dialogs: copy, export, keys, theme.

import { path, runPath, settings, sourceOf } from "./api.js";
import { byId, fill, h, say } from "./dom.js";
import { copiesOf } from "./copies.js";
import { announce, can, state, step, subscribe } from "./store.js";
import { KEYS } from "./words.js";

const EXPORTS = [["otlp-json", "OTLP JSON", "for Jaeger, a Collector, loopspan show"], ["run", "Run JSON", "the exact run"], ["ndjson", "NDJSON", "a step a line"], ["md", "Markdown", "to read and to paste"], ["html", "HTML", "a page without scripts"]];

export function menus() {
  theme();
  help();
  byId("copy").addEventListener("click", openCopy);
  byId("export").addEventListener("click", openExport);
  byId("redact").addEventListener("change", exports);
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
    });
  }
  byId("shortcuts").checked = settings.get("shortcuts", true);
  byId("shortcuts").addEventListener("change", () => settings.set("shortcuts", byId("shortcuts").checked));
  subscribe("run", () => {
    for (const id of ["copy", "export"]) byId(id).disabled = state.run === null || !can("content");
  });
}

function theme() {
  const button = byId("theme");
  const order = ["system", "light", "dark"];
  const show = (name) => {
    if (name === "system") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", name);
    say(byId("theme-name"), { system: "Auto", light: "Light", dark: "Dark" }[name]);
    button.setAttribute("aria-label", `Theme: ${name}`);
    button.title = `Theme: ${name}; click for the next`;
  };
  show(settings.get("theme", "system"));
  button.addEventListener("click", () => {
    const next = order[(order.indexOf(settings.get("theme", "system")) + 1) % order.length];
    settings.set("theme", next);
    show(next);
  });
}

function help() {
  fill(byId("keys"), KEYS.map(([keys, what]) => h("tr", {}, h("th", { scope: "row" }, keys.split(" ").map((key) => (/^[–,]$/.test(key) ? ` ${key} ` : h("kbd", {}, key)))), h("td", {}, what))));
  byId("help").addEventListener("click", () => byId("help-dialog").showModal());
}

/** Open a dialog; the browser gives the focus back when it closes. */
export function openCopy() {
  if (byId("copy").disabled || step() === null) return;
  byId("copy-fallback").hidden = true;
  const rows = copiesOf(step(), state.run).map(([what, words, hint, make]) => h("li", {}, h("button", { class: "quiet row", "data-copy": what, onclick: () => copy(what, make) }, h("span", { class: "strong" }, words), h("span", { class: "muted" }, hint))));
  fill(byId("copy-list"), rows);
  byId("copy-dialog").showModal();
}

async function copy(what, make) {
  let made;
  try {
    made = await make();
  } catch (error) {
    say(byId("copy-told"), [error.message, error.hint].filter(Boolean).join(". "));
    return;
  }
  const given = typeof made === "string" ? { text: made, note: "" } : made;
  try {
    await navigator.clipboard.writeText(given.text);
    say(byId("copy-told"), given.note);
    if (!given.note) byId("copy-dialog").close();
    announce(`Copied${given.note ? `: ${given.note}` : ""}`, true);
  } catch {
    const area = byId("copy-area");
    byId("copy-fallback").hidden = false;
    area.value = given.text;
    area.select();
    say(byId("copy-told"), `Press Ctrl+C to copy. ${given.note}`);
  }
}

function openExport() {
  exports();
  byId("export-dialog").showModal();
}

function exports() {
  const { run } = state;
  const redact = byId("redact").checked ? null : 0;
  fill(byId("export-list"), EXPORTS.map(([format, words, hint]) => h("li", {}, h("a", { class: "button row", href: path(runPath(run, "/export"), { format, redact, source: sourceOf(run) }), download: true, "data-export": format }, h("span", { class: "strong" }, words), h("span", { class: "muted" }, hint)))));
}

