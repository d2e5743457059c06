// Every text of the page that is not composed on the spot, and numbers as people read them.
// A translation is this file. Unknown is a dash, never a zero.

const grouped = new Intl.NumberFormat("en-US");

export const DASH = "—";

export function count(n) {
  return n === null || n === undefined ? DASH : grouped.format(n);
}

export function short(n) {
  if (n === null || n === undefined) return DASH;
  if (n < 10_000) return count(n);
  return n < 1_000_000 ? `${trimmed(n / 1000)}k` : `${trimmed(n / 1_000_000)}M`;
}

function trimmed(x) {
  return x.toFixed(x < 100 ? 1 : 0).replace(/\.0$/, "");
}

/** Milliseconds: `812 ms`, `3.9 s`, `2:07`, `1:02:07`. */
export function duration(ms) {
  if (ms === null || ms === undefined) return DASH;
  if (ms < 1) return ms === 0 ? "0 ms" : "< 1 ms";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const two = (n) => String(n).padStart(2, "0");
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? rest.replace(/^0/, "") : `${Math.floor(seconds / 3600)}:${rest}`;
}

export function usd(amount) {
  if (amount === null || amount === undefined) return DASH;
  if (amount === 0) return "$0";
  if (amount < 0.00005) return "< $0.0001";
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`;
}

export function bytes(n) {
  if (n === null || n === undefined) return DASH;
  if (n < 1000) return `${n} B`;
  return n < 1_000_000 ? `${trimmed(n / 1000)} KB` : `${trimmed(n / 1_000_000)} MB`;
}

/** Nanoseconds as a decimal text: too many digits for a number. */
export function date(nanoseconds) {
  return new Date(Number(BigInt(nanoseconds) / 1_000_000n));
}

export function clock(nanoseconds) {
  return date(nanoseconds).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

export function when(nanoseconds) {
  const then = date(nanoseconds);
  const today = then.toDateString() === new Date().toDateString();
  return today ? clock(nanoseconds) : then.toLocaleString([], { dateStyle: "short", timeStyle: "short", hour12: false });
}

/** Milliseconds between two times in nanoseconds. */
export function between(from, to) {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}

/** A count of tokens with the sign of where it comes from. */
export function tokens(n, source) {
  if (n === null || n === undefined) return DASH;
  return source === "estimated" ? `≈ ${count(n)}` : count(n);
}

export function signed(n, source) {
  if (n === null || n === undefined) return DASH;
  const text = n < 0 ? `−${count(-n)}` : `+${count(n)}`;
  return source === "estimated" ? `≈ ${text}` : text;
}

export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** How a run ended: icon, colour class, word, and what it means. */
export const OUTCOMES = {
  running: ["running", "running", "Running", "the run goes on"],
  completed: ["check", "ok", "Completed", "the model gave its answer"],
  max_rounds: ["scissors", "warning", "Truncated", "round limit, calls pending"],
  budget_tokens: ["scissors", "warning", "Truncated", "token budget spent"],
  budget_cost: ["scissors", "warning", "Truncated", "cost budget spent"],
  budget_time: ["scissors", "warning", "Truncated", "time budget spent"],
  length: ["scissors", "warning", "Truncated", "the answer reached its length limit"],
  blocked: ["stop", "warning", "Blocked", "the provider refused to answer"],
  error: ["cross", "error", "Error", "the run failed"],
  cancelled: ["stop", "muted", "Cancelled", "somebody stopped it"],
  abandoned: ["leave", "muted", "Abandoned", "nobody read its stream to the end"],
  lost: ["question", "warning", "Lost", "its process ended without ending it"],
  dry_run: ["layers", "muted", "Dry run", "assembled, nothing was sent"],
};

export function outcome(name) {
  return OUTCOMES[name] || ["question", "muted", "Unknown", `unknown state ${name}`];
}

/** How a run ended, as a sentence. */
export function ending(name) {
  const [, , word, meaning] = outcome(name);
  return `${word}: ${meaning}`;
}

export const STATES = {
  open: ["waiting", "running", "waiting"],
  ok: ["check", "ok", "ok"],
  error: ["cross", "error", "error"],
  cancelled: ["stop", "muted", "cancelled"],
  lost: ["question", "warning", "lost"],
};

export function state(name) {
  return STATES[name] || ["question", "muted", `unknown state ${name}`];
}

// Kinds of step: icon, name, tabs.
export const KINDS = {
  request: ["up", "request", ["delta", "messages", "tools", "parameters", "provenance", "raw", "span"]],
  chat: ["down", "chat", ["answer", "thinking", "usage", "raw", "span"]],
  tool: ["gear", "tool", ["arguments", "result", "definition", "span"]],
  assembled: ["layers", "assembled", ["messages", "tools", "provenance", "body", "span"]],
  error: ["cross", "error", ["error", "span"]],
};

export function kind(name) {
  return KINDS[name] || ["question", String(name), ["json", "span"]];
}

export const TABS = {
  delta: "Delta", messages: "Messages", tools: "Tools", parameters: "Parameters", provenance: "Provenance",
  raw: "Raw", span: "Span", answer: "Answer", thinking: "Thinking", usage: "Usage", arguments: "Arguments",
  result: "Result", definition: "Definition", body: "Body", error: "Error", json: "JSON",
};

export const FINISH = {
  stop: "answered", tool_call: "wants tools", tool_calls: "wants tools", length: "cut at its length limit",
  content_filter: "blocked by a filter", error: "failed", refusal: "refused",
};

export const finish = (reason) => (reason === null || reason === undefined ? null : FINISH[reason] || reason);

/** Why something is unknown. */
export const WHY = {
  not_captured: "not captured: content was off for this run",
  not_reported: "not reported by the provider",
  not_recorded: "not recorded in this trace",
  no_price: "no price is known for this model",
  not_permitted: "you may not see content here",
  redacted: "redacted",
  cut: "cut by a limit",
  evicted: "no longer in memory",
  unparsable: "could not be parsed",
  still_open: "still open",
};

export const why = (reason) => WHY[reason] || String(reason).replaceAll("_", " ");

/** The reason that an object itself gives for an unknown field. */
export function reason(owner, field) {
  const found = (owner.missing || []).find((each) => each.field === field);
  if (found === undefined) return null;
  const words = why(found.why);
  return found.detail && !words.includes(found.detail) ? `${words} (${found.detail})` : words;
}

export const ORIGINS = {
  system: "System prompt", override: "Override", snippet: "Snippet", skill: "Skill", guard: "Skill guard",
  user: "User", model: "Model", tool: "Tool result", unknown: "Origin not recorded", tool_definitions: "Tool definitions",
};

export const origin = (type) => ORIGINS[type] || String(type);

export const DROPPED = {
  budget: "no room in the budget for skills", checksum: "its text does not match its checksum",
  missing: "it was not found", disabled: "it is disabled",
};

export const SEVERITIES = { error: ["cross", "error"], warning: ["flag", "warning"], info: ["flag", "muted"] };

export const KEYS = [
  ["j k ↑ ↓", "next, previous step"],
  ["PgUp PgDn Home End", "ten steps, first, last"],
  ["[ ]", "previous, next round"],
  ["n N", "next, previous error or finding"],
  ["1 – 7", "tabs"],
  ["/", "search"],
  ["f", "follow the newest step"],
  ["c", "copy menu"],
  ["r", "runs"],
  ["m", "whole list of messages"],
  ["?", "this help"],
  ["Esc", "back"],
  ["Ctrl Enter, ⌘ Enter", "run, in the form"],
];
