// Search in the run, and the filters of its steps. Bodies live on the server: so does the search.

import { highlight } from "./body.js";
import { byId, fill, h, say, visible } from "./dom.js";
import { failed, select } from "./session.js";
import { can, changes, get, isFiltered, runPath, setFilter, sourceOf, state, subscribe } from "./store.js";
import { count, kind, KINDS, plural } from "./words.js";

let waiting = null;
let asked = 0;

export function searching() {
  const input = byId("search");
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(input.value), 200);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      clearTimeout(waiting);
      if (input.value !== state.search.q) ask(input.value).then(() => step(1));
      else step(event.shiftKey ? -1 : 1);
    }
    if (event.key === "Escape") {
      input.value = "";
      ask("");
      byId("steps").querySelector('[tabindex="0"]')?.focus();
      event.stopPropagation();
    }
  });
  byId("search-next").addEventListener("click", () => step(1));
  byId("search-previous").addEventListener("click", () => step(-1));
  byId("hits").addEventListener("click", (event) => {
    const hit = event.target.closest("[data-hit]");
    if (hit) goTo(Number(hit.dataset.hit));
  });
  subscribe("search", show);
  subscribe("opened", () => {
    input.value = state.search.q;
    input.disabled = !can("content");
    choices();
    show();
  });
  filters();
}

async function ask(q) {
  const mine = (asked += 1);
  if (q === "" || state.run === null) {
    state.search = { q: "", hits: [], total: 0, at: -1, capped: false };
  } else {
    try {
      const told = await get(runPath(state.run, "/search"), { q, source: sourceOf(state.run) });
      if (mine !== asked) return;
      state.search = { q, at: -1, more: told.next !== null, ...told };
    } catch (error) {
      return failed(error);
    }
  }
  if (CSS.highlights) CSS.highlights.delete("found");
  highlight(byId("pane"));
  changes("search");
}

function show() {
  const { q, hits, total, at, capped } = state.search;
  const told = q === "" ? "" : hits.length ? `${at >= 0 ? `${at + 1} of ` : ""}${plural(hits.length, "place")}${state.search.more || capped ? "+" : ""}, ${plural(total, "hit")}${capped ? "+" : ""}` : "nothing found";
  say(byId("search-told"), told);
  for (const id of ["search-next", "search-previous"]) byId(id).disabled = hits.length === 0;
  fill(byId("hits"), hits.slice(0, 50).map((hit, position) => h("li", {}, h("button", { class: "quiet hit", "data-hit": position, "aria-current": position === at ? "true" : null }, h("span", { class: "muted" }, where(hit)), " ", visible(hit.excerpt)))));
  if (hits.length > 50) byId("hits").append(h("li", { class: "muted" }, `and ${count(hits.length - 50)} more places: Enter goes through all of them`));
  byId("hits").hidden = hits.length === 0;
}

function where(hit) {
  const each = state.steps[hit.n - 1];
  return `${each && each.round ? `r${each.round} ` : ""}${each ? (each.kind === "tool" ? visible(each.name) : kind(each.kind)[1]) : ""} ${hit.field.replace(/\[(\d+)\]/, (_, n) => ` ${Number(n) + 1}`)}`;
}

function step(by) {
  const { hits, at } = state.search;
  if (hits.length) goTo((at + by + hits.length) % hits.length);
}

const FIELDS = { content: "answer", thinking: "thinking", arguments: "arguments", result: "result", name: "arguments", model: "parameters", error: null };

function goTo(at) {
  const hit = state.search.hits[at];
  state.search.at = at;
  const each = state.steps[hit.n - 1];
  let tab = FIELDS[hit.field] ?? null;
  if (hit.field.startsWith("messages")) tab = each && each.kind === "request" ? "delta" : "messages";
  if (hit.field.startsWith("tool_calls")) tab = "answer";
  const lined = ["content", "arguments", "result"].includes(hit.field) || hit.field.startsWith("messages");
  select(hit.n, { tab, line: lined ? hit.line : null });
  changes("search");
}

function choices() {
  const tools = [...new Set(state.steps.filter((each) => each && each.kind === "tool").map((each) => each.name))];
  const option = (value, word) => h("option", { value, selected: false }, word);
  const { kind: chosen, tool } = state.filters;
  fill(byId("filter-kind"), option("", "all kinds"), Object.keys(KINDS).map((name) => option(name, name)));
  fill(byId("filter-tool"), option("", "all tools"), tools.map((name) => option(name, visible(name))));
  byId("filter-kind").value = chosen;
  byId("filter-tool").value = tools.includes(tool) ? tool : "";
  if (tool && !tools.includes(tool)) setFilter("tool", "");
}

function filters() {
  const number = (value) => (value === "" || Number.isNaN(Number(value)) ? null : Number(value));
  for (const name of ["kind", "tool"]) byId(`filter-${name}`).addEventListener("change", (event) => setFilter(name, event.target.value));
  for (const name of ["slower", "tokens"]) byId(`filter-${name}`).addEventListener("input", (event) => setFilter(name, number(event.target.value)));
  byId("filter-tool").addEventListener("focus", choices);
  byId("filter-errors").addEventListener("change", (event) => setFilter("errors", event.target.checked));
  byId("filters-off").addEventListener("click", () => {
    for (const [name, value] of Object.entries({ kind: "", tool: "", errors: false, slower: null, tokens: null })) setFilter(name, value);
    for (const id of ["filter-kind", "filter-tool", "filter-slower", "filter-tokens"]) byId(id).value = "";
    byId("filter-errors").checked = false;
    byId("filters-summary").focus();
  });
  subscribe("filters", () => byId("filters-summary").classList.toggle("on", isFiltered()));
}
