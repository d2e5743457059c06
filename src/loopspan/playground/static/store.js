// What the page knows, and who wants to hear that it has changed: one flush per frame.

import { perFrame } from "./dom.js";
import { settings } from "./api.js";

export const state = {
  boot: null,
  runs: [], // headers, as the list shows them
  runsTold: { total: 0, dropped: 0, next: null },
  run: null, // the header of the open run
  steps: [], // steps[n - 1]
  selected: null, // number of the selected step
  tab: null,
  line: null,
  follow: true,
  search: { q: "", hits: [], total: 0, at: -1, capped: false },
  filters: { kind: "", tool: "", errors: false, slower: null, tokens: null },
  connection: "connecting",
  notice: null,
};

export const can = (permission) => state.boot !== null && state.boot.can.includes(permission);

const listeners = new Map();
const changed = new Map(); // topic → set of details

const flush = perFrame(() => {
  const news = [...changed];
  changed.clear();
  for (const [topic, details] of news) {
    for (const listener of listeners.get(topic) || []) listener(details);
  }
});

/** Hear of a topic: `boot, runs, run, steps, opened, selection, filters, search, status`. */
export function subscribe(topic, listener) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(listener);
}

export function changes(topic, detail = null) {
  if (!changed.has(topic)) changed.set(topic, new Set());
  changed.get(topic).add(detail);
  flush();
}

export const step = (n = state.selected) => (n === null ? null : state.steps[n - 1] || null);

/** Take a whole step; its number is its place. */
export function putStep(given) {
  state.steps[given.n - 1] = given;
  changes("steps", given.n);
}

export function patchStep(n, fields) {
  const known = state.steps[n - 1];
  if (known === undefined) return false;
  state.steps[n - 1] = { ...known, ...fields };
  changes("steps", n);
  return true;
}

/** Take a header; the list and the open run have the same one. */
export function putRun(header) {
  const same = (run) => run.run_id === header.run_id && run.source.type === header.source.type;
  const at = state.runs.findIndex(same);
  if (at >= 0) state.runs[at] = { ...state.runs[at], ...header };
  else state.runs.unshift(header);
  changes("runs");
  if (state.run !== null && same(state.run)) {
    state.run = { ...state.run, ...header };
    changes("run");
  }
}

/** Steps that are shown under the filters. */
export function passes(each) {
  const { kind, tool, errors, slower, tokens } = state.filters;
  if (kind && each.kind !== kind) return false;
  if (tool && each.name !== tool) return false;
  if (errors && each.state !== "error" && !each.is_error && !flagged(each.n)) return false;
  if (slower !== null && !(each.duration_ms > slower)) return false;
  if (tokens !== null && !(tokensOf(each) > tokens)) return false;
  return true;
}

export function flagged(n) {
  return state.run !== null && (state.run.findings || []).some((found) => found.steps.includes(n));
}

export function tokensOf(each) {
  if (each.kind === "request") return each.context ? each.context.used : null;
  return each.kind === "chat" ? each.usage.output_tokens : null;
}

export const isFiltered = () => Object.values(state.filters).some((value) => value !== "" && value !== null && value !== false);

export function setFilter(name, value) {
  state.filters[name] = value;
  changes("filters");
}

/** A sentence in the status line: at most one every three seconds, urgent ones at once. */
let lastSaid = 0;
let waiting = null;

export function announce(text, urgent = false) {
  state.notice = text;
  const wait = urgent ? 0 : Math.max(0, lastSaid + 3000 - performance.now());
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    lastSaid = performance.now();
    changes("status");
    waiting = setTimeout(() => {
      state.notice = null;
      changes("status");
    }, 6000);
  }, wait);
}

export function setFollow(on) {
  state.follow = on;
  settings.set("follow", on);
  changes("selection");
}
