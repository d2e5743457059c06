// What the page asks the server, what it knows, and who wants to hear that it has changed.

import { perFrame } from "./dom.js";

const MOST_BODIES = 32_000_000;
export const PAGE = 65_536;

export class ApiError extends Error {
  constructor(status, told) {
    super(told.message || `the server answered ${status}`);
    this.status = status;
    this.code = told.code || "unknown";
    this.hint = told.hint || "";
    this.detail = told.detail || null;
  }
}

/** Make a path with the parts of its query that are there. */
export function path(base, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given).toString();
  return text ? `${base}?${text}` : base;
}

export const runPath = (run, rest = "") => `api/runs/${encodeURIComponent(run.run_id)}${rest}`;

export const sourceOf = (run) => (run.source && run.source.type !== "memory" ? run.source.type : null);

async function answered(url, options) {
  let response;
  try {
    response = await fetch(url, { credentials: "same-origin", ...options });
  } catch {
    throw new ApiError(0, { code: "offline", message: "the playground does not answer", hint: "is its process still running?" });
  }
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  const error = new ApiError(response.status, told.error || {});
  error.answer = told;
  throw error;
}

export const get = async (url, query) => (await answered(path(url, query))).json();

export const text = async (url, query) => (await answered(path(url, query))).text();

export async function send(method, url, value) {
  const body = typeof value === "string" || value instanceof Blob ? value : JSON.stringify(value);
  const headers = { "content-type": "application/json", "x-playground": "1" };
  const response = await answered(url, { method, headers, body });
  return response.status === 204 ? null : response.json();
}

export const post = (url, value) => send("POST", url, value);

/** Bodies that were fetched, the least recently used ones go first. */
const kept = new Map();
let size = 0;

function keep(key, value) {
  kept.set(key, value);
  size += value.text.length * 2;
  for (const [old, { text: gone }] of kept) {
    if (size <= MOST_BODIES || old === key) break;
    kept.delete(old);
    size -= gone.length * 2;
  }
}

function remembered(key) {
  const found = kept.get(key);
  if (found) {
    kept.delete(key);
    kept.set(key, found);
  }
  return found;
}

/** A whole body; `ref` is a BodyRef or a MsgRef. */
export async function whole(ref, run) {
  const key = `${ref.h}:whole`;
  const known = remembered(key);
  if (known) return known.text;
  const response = await answered(path(`api/blobs/${ref.h}`, { run: run.run_id, download: 1 }));
  const found = await response.text();
  if (!kept.has(key)) keep(key, { text: found });
  return found;
}

/** A page of a body: its text, where the next one begins (bytes), and how many bytes there are. */
export async function part(ref, run, offset = 0) {
  const key = `${ref.h}:${offset}`;
  const known = remembered(key);
  if (known) return known;
  const response = await answered(path(`api/blobs/${ref.h}`, { run: run.run_id, offset, limit: PAGE }));
  const next = response.headers.get("x-next");
  const found = {
    text: await response.text(),
    next: next === null ? null : Number(next),
    total: Number(response.headers.get("x-total")),
  };
  if (!kept.has(key)) keep(key, found);
  return found;
}

export const downloadOf = (ref, run) => path(`api/blobs/${ref.h}`, { run: run.run_id, download: 1 });

/** What was kept in this browser by the page; a browser that keeps nothing is fine, too. */
export const settings = {
  get(name, otherwise = null) {
    try {
      const text = localStorage.getItem(`loopspan.${name}`);
      return text === null ? otherwise : JSON.parse(text);
    } catch {
      return otherwise;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`loopspan.${name}`, JSON.stringify(value));
    } catch {
      // Private windows and full disks refuse; the switch then lasts as long as the page.
    }
  },
};

export const state = {
  boot: null,
  runs: [], // headers, as the list shows them
  runsTold: { total: 0, dropped: 0, next: null },
  run: null, // the header of the open run
  steps: [], // steps[n - 1]
  words: null, // {n, text} of an answer that is on its way
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

/** Take a step; one that is over does not begin again, however late its beginning is told. */
export function putStep(given) {
  if ((state.steps[given.n - 1]?.state ?? "open") !== "open" && given.state === "open") return;
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

/** Take a header, but for a late one; the list and the open run have the same one. */
export function putRun(header) {
  if (state.heard && state.heard.length < 1000) state.heard.push(header);
  const same = (run) => run.run_id === header.run_id && run.source.type === header.source.type;
  const at = state.runs.findIndex(same);
  const late = (run) => run.outcome !== "running" && header.outcome === "running";
  if (at < 0) state.runs.unshift(header);
  else if (!late(state.runs[at])) state.runs[at] = { ...state.runs[at], ...header };
  changes("runs");
  if (state.run !== null && same(state.run) && !late(state.run)) {
    state.run = { ...state.run, ...header };
    changes("run");
  }
}

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
