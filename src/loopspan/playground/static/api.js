// What the page asks the server, each body once; errors say what happened and what to do next.

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

export async function get(url, query) {
  return (await answered(path(url, query))).json();
}

export async function text(url, query) {
  return (await answered(path(url, query))).text();
}

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
