// The list of steps: a tree whose rows are appended and patched, never built anew.

import { byId, fill, h, icon, isTyping, say, visible } from "./dom.js";
import { isLive, select } from "./session.js";
import { flagged, isFiltered, passes, state, subscribe } from "./store.js";
import { between, bytes, count, duration, finish, kind, plural, state as stateWords, tokens } from "./words.js";

const A_FRAME = 400;

const waiting = new Set();
const siblings = new Map(); // parent → how many rows
let scale = 1;
let scheduled = false;
let focusable = null;

const tree = () => byId("steps");

export function stepList() {
  subscribe("opened", begin);
  subscribe("steps", take);
  subscribe("selection", mark);
  subscribe("filters", filter);
  subscribe("run", settle);
  tree().addEventListener("click", (event) => {
    const row = event.target.closest("[role=treeitem]");
    if (row) select(row.n);
  });
}

function begin() {
  tree().replaceChildren();
  waiting.clear();
  siblings.clear();
  scale = 1;
  focusable = null;
  take(state.steps.map((each) => each.n));
  settle();
}

function take(numbers) {
  for (const n of numbers) waiting.add(n);
  if (!scheduled) work();
}

/** Append and patch what waits, so many rows a frame. */
function work() {
  scheduled = false;
  const fragment = document.createDocumentFragment();
  const todo = [...waiting].sort((a, b) => a - b).slice(0, A_FRAME);
  for (const n of todo) {
    waiting.delete(n);
    const each = state.steps[n - 1];
    if (each === undefined) continue;
    const row = byId(`step-${n}`);
    if (row) patch(row, each);
    else fragment.append(made(each));
  }
  const added = fragment.childElementCount > 0;
  if (added) tree().append(fragment);
  rescale();
  if (added || todo.includes(state.selected)) mark();
  told();
  if (waiting.size) {
    scheduled = true;
    requestAnimationFrame(work);
  }
}

function made(each) {
  const row = h("div", { role: "treeitem", id: `step-${each.n}`, class: "step", tabindex: "-1", "aria-selected": "false" });
  row.n = each.n;
  const level = (each.depth || 0) + 1;
  const place = (siblings.get(each.parent) || 0) + 1;
  siblings.set(each.parent, place);
  row.setAttribute("aria-level", level);
  row.setAttribute("aria-posinset", place);
  row.setAttribute("aria-setsize", "-1");
  if (level > 1) row.style.setProperty("--depth", level - 1);
  patch(row, each);
  return row;
}

function patch(row, each) {
  const [glyph, word] = kind(each.kind);
  const [stateGlyph, colour, stateWord] = stateWords(each.state);
  const bad = each.state !== "ok" || each.is_error;
  const told = summary(each);
  row.hidden = !passes(each);
  row.setAttribute("data-kind", each.kind);
  row.classList.toggle("first", each.kind === "request" || each.kind === "assembled");
  row.setAttribute("aria-label", spoken(each, word, told, bad ? stateWord : null));
  const bar = h("span", { class: `bar bar-${each.kind}` });
  bar.style.setProperty("--at", Math.max(0, between(state.run.started_at, each.started_at)).toFixed(1));
  bar.style.setProperty("--for", String(each.duration_ms || 0));
  fill(row,
    h("span", { class: "round muted" }, each.round === null ? "" : `r${each.round}`),
    h("span", { class: `glyph kind-${each.kind}` }, icon(glyph)),
    h("span", { class: "what" }, h("span", { class: "kind" }, told.name || word), h("span", { class: "told" }, told.text)),
    h("span", { class: "figures" }, flagged(each.n) ? h("span", { class: "warning", title: "has a finding" }, icon("flag")) : null,
      bad ? h("span", { class: colour }, icon(each.is_error && each.state === "ok" ? "cross" : stateGlyph)) : null,
      each.state === "open" ? h("run-clock", { since: each.started_at, class: "running" }) : told.figure),
    h("span", { class: "track", "aria-hidden": "true" }, bar),
    (each.retries || []).map((retry) => h("span", { class: "retry" }, `attempt ${retry.attempt}: ${retry.status ?? "no answer"}, again after ${duration(retry.delay_ms)}`)),
  );
}

const SUMMARIES = {
  request(each) {
    const { delta, context } = each;
    const text = delta === null ? "content not captured" : changesOf(delta);
    return { text, figure: context && context.used !== null ? `${tokens(context.used, context.used_source)} tok` : "" };
  },
  chat(each) {
    if (each.state === "open") return { text: state.words?.n === each.n ? "answering" : "waiting for the answer", figure: "" };
    const words = each.error ? each.error.type : finish(each.finish_reason) || "finish reason not reported";
    const calls = (each.tool_calls || []).map((call) => call.name);
    const retries = each.retries.length ? ` · ${plural(each.retries.length, "retry", "retries")}` : "";
    return { text: `${words}${calls.length ? `: ${visible(calls.join(", "))}` : ""}${retries}`, figure: duration(each.duration_ms) };
  },
  tool(each) {
    const result = each.cut.length ? `cut to ${bytes(each.cut[0].kept)}` : each.result ? bytes(each.result.bytes) : "";
    const text = each.state === "open" ? "running" : each.error ? each.error.type : each.is_error ? "error" : `ok ${result}`.trim();
    return { name: visible(each.name || "tool"), text, figure: duration(each.duration_ms) };
  },
  assembled(each) {
    const dropped = (each.parts || []).filter((part) => part.dropped).length;
    const text = [each.messages && plural(each.messages.length, "message"), each.tools && plural(each.tools.length, "tool"), dropped ? `${dropped} dropped` : null];
    return { text: text.filter(Boolean).join(" · "), figure: each.context ? `${tokens(each.context.used, each.context.used_source || "estimated")} tok` : "" };
  },
  error: (each) => ({ text: each.error ? each.error.type : "", figure: "" }),
};

function summary(each) {
  const make = SUMMARIES[each.kind];
  return make ? make(each) : { text: `unknown kind ${each.kind}`, figure: duration(each.duration_ms) };
}

export function changesOf(delta) {
  const parts = [`+${delta.add.length}`];
  if (delta.drop.length) parts.push(`−${delta.drop.length}`);
  if (delta.edit.length) parts.push(`~${delta.edit.length}`);
  const what = delta.base_round === null ? plural(delta.add.length, "message") : `${parts.join(" ")} ${delta.add.length === 1 && parts.length === 1 ? "message" : "messages"}`;
  const changed = [delta.tools.add.length + delta.tools.drop.length + delta.tools.changed.length ? "tools changed" : null, Object.keys(delta.parameters).length ? "parameters changed" : null];
  return [what, ...changed.filter(Boolean)].join(" · ");
}

function spoken(each, word, told, stateWord) {
  const parts = [each.round === null ? null : `Round ${each.round}`, each.kind === "tool" ? `tool ${told.name}` : word, stateWord, told.text, each.state === "open" ? null : told.figure, flagged(each.n) ? "has a finding" : null];
  return [...new Set(parts.filter(Boolean))].join(", ");
}

/** Bars share the width of the run; the scale grows in steps, so that rows stay as they are. */
function rescale() {
  const last = state.steps[state.steps.length - 1];
  if (state.run === null || last === undefined) return;
  const end = isLive() ? between(state.run.started_at, last.started_at) + (last.duration_ms || 0) : state.run.duration_ms || 1;
  if (isLive() ? end > scale : end !== scale) {
    scale = isLive() ? end * 1.5 : end;
    tree().style.setProperty("--total", String(Math.max(scale, 0.001)));
  }
}

/** When a run is over, each row knows of how many it is one. */
function settle() {
  tree().setAttribute("aria-busy", String(isLive()));
  if (state.run === null) return;
  rescale();
  if (isLive()) return;
  for (const row of tree().children) {
    const each = state.steps[row.n - 1];
    if (each !== undefined) row.setAttribute("aria-setsize", siblings.get(each.parent));
    if (each !== undefined && flagged(each.n) && !row.querySelector(".figures > .warning")) patch(row, each);
  }
}

function mark() {
  const row = state.selected === null ? null : byId(`step-${state.selected}`);
  for (const old of tree().querySelectorAll('[aria-selected="true"]')) {
    if (old !== row) old.setAttribute("aria-selected", "false");
  }
  const first = row || tree().firstElementChild;
  if (focusable !== first) {
    if (focusable) focusable.setAttribute("tabindex", "-1");
    if (first) first.setAttribute("tabindex", "0");
    focusable = first;
  }
  if (!row || row.getAttribute("aria-selected") === "true") return;
  const had = tree().contains(document.activeElement);
  row.setAttribute("aria-selected", "true");
  if (had && !isTyping(document.activeElement)) row.focus({ preventScroll: true });
  reveal(row);
}

/** Scroll the list, and nothing around it, until a row is seen. */
function reveal(row) {
  const list = tree().getBoundingClientRect();
  const box = row.getBoundingClientRect();
  if (box.top < list.top) tree().scrollTop -= list.top - box.top;
  else if (box.bottom > list.bottom) tree().scrollTop += box.bottom - list.bottom;
}

function filter() {
  for (const row of tree().children) row.hidden = !passes(state.steps[row.n - 1]);
  told();
}

function told() {
  const shown = state.steps.filter((each) => each !== undefined && passes(each)).length;
  const hidden = state.steps.length - shown;
  say(byId("steps-told"), hidden ? `${count(shown)} of ${plural(state.steps.length, "step")}, ${count(hidden)} hidden by filters` : plural(state.steps.length, "step"));
  byId("filters-off").hidden = !isFiltered();
  byId("steps-empty").hidden = state.steps.length > 0 && shown > 0;
  say(byId("steps-empty"), state.steps.length ? "All steps are hidden by the filters." : isLive() ? "The run has begun; its first step is on the way." : "This run has no steps.");
}

/** The next step, or the one before, that the filters show. */
export function neighbour(by, from = state.selected ?? 0) {
  const direction = Math.sign(by);
  let found = null;
  for (let n = from + direction, left = Math.abs(by); n >= 1 && n <= state.steps.length && left > 0; n += direction) {
    if (!passes(state.steps[n - 1])) continue;
    found = n;
    left -= 1;
  }
  return found;
}
