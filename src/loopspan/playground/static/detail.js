// The pane of the selected step: heading, tabs after the ARIA practices, and the tab's blocks.

import { byId, fill, h, icon, say, sync, visible } from "./dom.js";
import { selectTab, tabsOf } from "./session.js";
import { state, step, subscribe } from "./store.js";
import * as answers from "./tabs_answer.js";
import * as requests from "./tabs_request.js";
import { duration, kind, state as stateWords, TABS } from "./words.js";

const PANES = {
  delta: requests.delta, messages: requests.messages, tools: requests.tools, parameters: requests.parameters,
  provenance: requests.provenance, body: requests.bodyTab, answer: answers.answer, thinking: answers.thinking,
  usage: answers.usage, raw: answers.raw, arguments: answers.toolArguments, result: answers.result,
  definition: answers.definitionTab, span: answers.span, error: answers.errorTab, json: answers.json,
};

let shown = "";

export function detail() {
  subscribe("selection", show);
  subscribe("steps", (numbers) => {
    if (numbers.has(state.selected) || (step() && state.tab === "raw")) show();
  });
  byId("tabs").addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) selectTab(tab.dataset.tab);
  });
  byId("tabs").addEventListener("keydown", arrows);
}

function show() {
  const each = step();
  byId("detail").hidden = each === null;
  byId("detail-empty").hidden = each !== null || state.run === null;
  if (each === null) {
    shown = "";
    return;
  }
  heading(each);
  tabs(each);
  const place = [state.run.run_id, state.run.source.type, state.selected, state.tab, state.line].join("/");
  const pane = byId("pane");
  if (place !== shown) {
    shown = place;
    pane.replaceChildren();
    pane.scrollTop = 0;
  }
  pane.setAttribute("aria-labelledby", `tab-${state.tab}`);
  const blocks = (PANES[state.tab] || answers.json)(each, state.run);
  sync(pane, blocks.map(([key, signature, make]) => [`${each.n} ${state.tab} ${key}`, signature, make]));
}

function heading(each) {
  const [glyph, word] = kind(each.kind);
  const [stateGlyph, colour, stateWord] = stateWords(each.state);
  const what = each.kind === "request" ? `request to ${each.model || "an unknown model"}` : each.kind === "tool" ? `tool ${each.name || ""}` : each.kind === "chat" && each.response_model ? `answer of ${each.response_model}` : word;
  const text = `${each.round === null ? "" : `Round ${each.round} · `}${what}`;
  const signature = JSON.stringify([text, each.state, each.duration_ms, each.n]);
  sync(byId("detail-head"), [["head", signature, () => h("div", { class: "detail-title" },
    h("h2", { id: "detail-name" }, h("span", { class: `kind-${each.kind}` }, icon(glyph)), " ", visible(text)),
    each.state === "ok" ? null : h("span", { class: colour }, icon(stateGlyph), " ", stateWord),
    h("span", { class: "muted" }, [`step ${each.n}`, each.kind !== "request" && each.duration_ms !== null ? duration(each.duration_ms) : null].filter(Boolean).join(" · ")))]]);
}

function tabs(each) {
  const names = tabsOf(each);
  const list = byId("tabs");
  if (list.dataset.names !== `${names} ${badge(each)}`) {
    list.dataset.names = `${names} ${badge(each)}`;
    const focused = list.contains(document.activeElement);
    fill(list, names.map((name, at) => h("button", { role: "tab", id: `tab-${name}`, "data-tab": name, "aria-controls": "pane", title: `key ${at + 1}` }, TABS[name], name === "tools" && each.tools ? h("span", { class: "muted" }, String(each.tools.length)) : null)));
    if (focused) requestAnimationFrame(() => byId(`tab-${state.tab}`)?.focus());
  }
  for (const tab of list.children) {
    const mine = tab.dataset.tab === state.tab;
    tab.setAttribute("aria-selected", String(mine));
    tab.tabIndex = mine ? 0 : -1;
  }
}

const badge = (each) => (each.tools ? each.tools.length : "");

function arrows(event) {
  const names = tabsOf(step());
  const at = names.indexOf(state.tab);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const name = names[(to + names.length) % names.length];
  selectTab(name);
  byId(`tab-${name}`).focus();
}

/** The words of the status line. */
export function statusLine() {
  subscribe("status", () => say(byId("status"), state.notice || ""));
}
