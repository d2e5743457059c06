// Menus and dialogs: copy, export, keys, theme. What is copied are the server's own bytes.

import { byId, fill, h, say, visible } from "./dom.js";
import { field, listOf, read, written } from "./texts.js";
import { address, failed } from "./session.js";
import { announce, can, get, path, putRun, runPath, send, settings, sourceOf, state, step, subscribe, text, whole } from "./store.js";
import { KEYS, kind } from "./words.js";

const EXPORTS = [["otlp-json", "OTLP JSON", "for Jaeger, a Collector, loopspan show"], ["run", "Run JSON", "the exact run"], ["ndjson", "NDJSON", "a step a line"], ["md", "Markdown", "to read and to paste"], ["html", "HTML", "a page without scripts"]];

export function menus() {
  theme();
  help();
  byId("copy").addEventListener("click", openCopy);
  byId("export").addEventListener("click", openExport);
  byId("redact").addEventListener("change", exports);
  byId("pin").addEventListener("click", () => label({ pinned: !state.run.pinned }));
  byId("label").addEventListener("click", openLabel);
  byId("label-form").addEventListener("submit", saveLabel);
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
    });
  }
  byId("shortcuts").checked = settings.get("shortcuts", true);
  byId("shortcuts").addEventListener("change", () => settings.set("shortcuts", byId("shortcuts").checked));
  subscribe("run", () => {
    for (const id of ["copy", "export"]) byId(id).disabled = state.run === null || !can("content");
    for (const id of ["pin", "label"]) byId(id).hidden = !can("run");
    byId("pin").setAttribute("aria-pressed", String(state.run?.pinned ?? false));
    fill(byId("run-note"), visible(state.run?.note ?? ""));
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

function openLabel() {
  byId("label-title").value = state.run.title ?? "";
  byId("label-note").value = state.run.note ?? "";
  byId("label-dialog").showModal();
}

/** A title that is emptied is the one that the run had by itself. */
function saveLabel() {
  const [title, note] = ["label-title", "label-note"].map((id) => byId(id).value.trim() || null);
  label(title === state.run.title ? { note } : { title, note });
}

function label(changed) {
  send("PATCH", path(runPath(state.run), { source: sourceOf(state.run) }), changed).then(putRun).catch(failed);
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

/** Rows of the menu: id, name, hint, and a function that gives the text. */
export function copiesOf(step, run) {
  const rows = [
    ["text", "Text", "what this step says", () => textOf(step, run)],
    ["json", "JSON", "this step of the exact run", () => jsonOf(step, run)],
    ["markdown", "Markdown", "with fences, to paste", () => markdownOf(step, run)],
  ];
  if (step.kind === "request" || step.kind === "chat") {
    rows.push(["curl", "curl", "the request as a command", () => snippet(step, run, "curl")]);
    rows.push(["httpx", "httpx", "the request as Python", () => snippet(step, run, "httpx")]);
  }
  rows.push(["link", "Link", "to this step and tab", async () => new URL(address(), location.href).href]);
  rows.push(["run-text", "Whole run as text", "what loopspan show prints", () => text(runPath(run, ".txt"), { source: sourceOf(run) })]);
  rows.push(["run-markdown", "Whole run as Markdown", "", () => text(runPath(run, ".md"), { source: sourceOf(run) })]);
  return rows;
}

async function snippet(step, run, language) {
  const told = await get(runPath(run, `/steps/${step.n}/snippet`), { language, source: sourceOf(run) });
  const notes = [told.environment.length ? `set ${told.environment.join(", ")} first` : null, told.rebuilt ? "the body was rebuilt, as no raw body was kept" : null, told.omitted.length ? `left out: ${told.omitted.join(", ")}` : null];
  return { text: told.text, note: notes.filter(Boolean).join("; ") };
}

/** The bodies of a step, with a name for each. */
async function bodies(step, run) {
  const of = async (name, ref) => (ref ? [name, await whole(ref, run)] : null);
  switch (step.kind) {
    case "request": {
      const added = step.delta ? [...step.delta.edit, ...step.delta.add].sort((a, b) => a.at - b.at) : [];
      return Promise.all(added.map(async ({ message }) => [message.role, carried(await whole(message, run))]));
    }
    case "chat": {
      const found = [await of("thinking", step.thinking), step.content ? ["assistant", carried(await whole(step.content, run))] : null];
      return found.filter(Boolean);
    }
    case "tool":
      return (await Promise.all([of("arguments", step.arguments), of("result", step.result)])).filter(Boolean);
    case "assembled":
      return Promise.all((step.messages || []).map(async (message) => [message.role, carried(await whole(message, run))]));
    default:
      return step.error ? [["error", `${step.error.type}: ${step.error.message ?? ""}`]] : [];
  }
}

/** The texts of a message's parts, as the model reads them. */
function carried(json) {
  const texts = listOf(field(read(json), "parts")).map((part) => {
    const plain = field(part, "content") ?? field(part, "response") ?? field(part, "result");
    if (plain !== undefined) return typeof plain === "string" ? plain : written(plain);
    const name = field(part, "name");
    return name === undefined ? written(part) : `${name}(${argumentsOf(part)})`;
  });
  return texts.join("\n");
}

function argumentsOf(part) {
  const given = field(part, "arguments");
  return given === undefined ? "" : typeof given === "string" ? given : written(given);
}

async function textOf(step, run) {
  const found = await bodies(step, run);
  return step.kind === "tool" && step.result ? found[found.length - 1][1] : found.map(([, body]) => body).join("\n\n");
}

async function markdownOf(step, run) {
  const found = await bodies(step, run);
  const head = `## ${step.round === null ? "" : `Round ${step.round}: `}${step.kind === "tool" ? step.name : kind(step.kind)[1]}`;
  return `${[head, ...found.map(([name, body]) => `**${name}**\n\n${fenced(body)}`)].join("\n\n")}\n`;
}

/** A fence is longer than any run of backticks inside. */
export function fenced(body) {
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map((found) => found[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${body}\n${fence}`;
}

/** The step as the exact run has it: cut out of the server's own text. */
async function jsonOf(step, run) {
  const ndjson = await text(path(runPath(run, "/export"), { format: "run", redact: 0, source: sourceOf(run) }));
  const steps = listOf(field(read(ndjson), "steps"));
  const wanted = steps.find((each) => field(each, "kind") === step.kind && field(each, "span_id") === step.span_id);
  return written(wanted ?? read(JSON.stringify(step)));
}
