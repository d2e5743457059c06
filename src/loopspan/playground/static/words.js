// Every text of the page that is not composed on the spot: a translation is this file.

export const TITLE = "loopspan playground";

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

/** States of a step. */
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

/** Kinds of step: icon, name, tabs. */
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
  return found.detail ? `${why(found.why)} (${found.detail})` : why(found.why);
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
