// Tabs of what came back: answer, thinking, usage, raw, results, errors, and the whole span.

import { bodyOf, broken, note, skeleton } from "./body.js";
import { byId, fill, h, visible } from "./dom.js";
import { callBlock, definition, jumpToCall, jumpToDefinition, messageBlock } from "./messages.js";
import { get, runPath, sourceOf, state, step, subscribe } from "./store.js";
import { sentence, unknown } from "./tabs_request.js";
import { bytes, count, duration, finish, plural, reason, usd, why } from "./words.js";

export const OPEN = "The answer is not here yet.";

/** An error as it is; it stands beside what else is known. */
function errorBlock(step) {
  const { error } = step;
  if (!error) return [];
  return [["error", JSON.stringify(error), () => h("div", { class: "error-box" },
    h("p", {}, h("strong", { class: "error" }, visible(error.type)), error.status === null ? "" : error.type === String(error.status) ? " is the HTTP status of the answer" : ` HTTP status ${error.status}`),
    h("p", {}, error.message === null ? h("span", { class: "muted" }, `No message: ${reason(step, "error.message") || why("not_recorded")}.`) : visible(error.message)),
    error.body ? bodyOf(error.body, state.run, { role: "raw", label: "Body of the error" }) : null)]];
}

export const errorTab = (step) => (step.error ? errorBlock(step) : sentence("There is no error."));

/** The answer of the model, its calls, and why it stopped. */
export function answer(step, run) {
  if (step.state === "open") return [["open", "", () => h("div", { class: "waiting" }, h("run-clock", { since: step.started_at }), h("p", {}, `${OPEN} The request has been sent.`))], ["words", String(step.n), () => h("pre", { id: "words", class: "text", "aria-label": "The answer so far" }, wordsOf(step))]];
  const blocks = [...errorBlock(step), ["finish", JSON.stringify([step.finish_reason, step.finish_reason_raw, step.retries]), () => finished(step)]];
  const calls = step.tool_calls || [];
  const isEmpty = step.content !== null && step.content.bytes === 0 && !calls.length;
  if (isEmpty) blocks.push(...sentence("The model answered with no text and no tool call."));
  else if (step.content !== null) blocks.push(["content", step.content.h, () => messageBlock(step.content, run, { open: true, line: state.tab === "answer" ? state.line : null })]);
  else if (!step.error && !calls.length) blocks.push(...sentence(step.missing.some((each) => each.field === "content") ? unknown(step, "content") : "The model answered with no text and no tool call."));
  if (step.content === null) for (const [at, call] of calls.entries()) blocks.push([`call ${at}`, JSON.stringify(call), () => callBlock(call, run, call.arguments === null ? h("p", { class: "empty" }, `Arguments: ${reason(step, "tool_calls") || why("not_captured")}.`) : bodyOf(call.arguments, run, { role: "arguments", label: "Arguments" }))]);
  for (const call of calls.filter((each) => !each.valid && each.arguments !== null)) blocks.push([`bad ${call.id}`, "", () => note(`The arguments of ${visible(call.name)} are no valid JSON.`)]);
  return blocks;
}

const wordsOf = (step) => (state.words?.n === step?.n ? visible(state.words.text) : "");

/** Add what is new to the words that are shown; who reads at their end goes on with them. */
function speak() {
  const [place, pane] = [byId("words"), byId("pane")];
  if (!place) return;
  const follows = pane.scrollHeight - pane.scrollTop - pane.clientHeight < 40;
  place.append(wordsOf(step()).slice(place.textContent.length));
  place.normalize();
  if (follows) pane.scrollTop = pane.scrollHeight;
}

subscribe("words", speak);

function finished(step) {
  const raw = step.finish_reason_raw;
  const words = finish(step.finish_reason);
  return h("div", { class: "block-head" },
    h("h3", {}, words === null ? (step.error ? "No answer" : "Finish reason not reported") : `Finished: ${words}`),
    raw && h("span", { class: "muted" }, "the provider's word: ", h("code", {}, visible(raw))),
    step.retries.length ? h("span", { class: "warning" }, plural(step.retries.length, "retry", "retries")) : null);
}

export function thinking(step, run) {
  if (step.thinking !== null) return [["thinking", step.thinking.h, () => bodyOf(step.thinking, run, { role: "thinking", label: "Thinking" })]];
  if (step.state === "open") return sentence(OPEN);
  const used = step.usage.reasoning_output_tokens;
  return sentence(used ? `The model spent ${plural(used, "token")} on reasoning and gave none of it as text.` : reason(step, "thinking") ? unknown(step, "thinking") : "No thinking was returned with this answer.");
}

const USAGE = [
  ["input_tokens", "Tokens in", null], ["cache_read_input_tokens", "read from the cache", "input_tokens"],
  ["cache_write_input_tokens", "written to the cache", "input_tokens"], ["output_tokens", "Tokens out", null],
  ["reasoning_output_tokens", "for reasoning", "output_tokens"], ["total_tokens", "Tokens in total", null],
];

/** Tokens, cost and time of one call; unknown is a dash with its reason. */
export function usage(step) {
  const unsaid = (field) => h("span", { class: "muted" }, `— ${reason(step, field) || why("not_reported")}`);
  const rows = USAGE.map(([name, word, inside]) => h("tr", { class: inside ? "inside" : null }, h("th", { scope: "row" }, word), h("td", {}, step.usage[name] === null ? unsaid(`usage.${name}`) : count(step.usage[name]))));
  const row = (word, value, field) => h("tr", {}, h("th", { scope: "row" }, word), h("td", {}, value ?? unsaid(field)));
  const source = { provider: "reported by the provider", table: "from the price table" }[step.cost_source];
  return [["usage", JSON.stringify([step.usage, step.cost_usd, step.duration_ms, step.retries]), () => h("table", { class: "pairs" }, h("tbody", {}, rows,
    row("Cost", step.cost_usd === null ? null : [usd(step.cost_usd), source && h("span", { class: "muted" }, ` ${source}`)], "cost_usd"),
    row("Duration", step.duration_ms === null ? null : duration(step.duration_ms), "duration_ms"),
    row("Time to first chunk", step.time_to_first_chunk_ms === null ? null : duration(step.time_to_first_chunk_ms), "time_to_first_chunk_ms"),
    step.retries.map((retry) => h("tr", { class: "warning" }, h("th", { scope: "row" }, `Retry ${retry.attempt}`), h("td", {}, `after status ${retry.status ?? "unknown"}, waited ${duration(retry.delay_ms)}`)))))]];
}

/** Bodies as they went over the wire, where the gate was on. */
export function raw(step, run) {
  const chat = step.kind === "chat" ? step : state.steps.find((each) => each && each.kind === "chat" && each.span_id === step.span_id);
  if (!chat || chat.state === "open") return sentence("The raw bodies come with the answer.");
  if (chat.raw === null) return sentence("Raw bodies were not kept. Tick “Keep raw bodies” in the form and run again.");
  const wanted = step.kind === "chat" ? ["response", "request"] : ["request", "response"];
  const names = { request: "Request, as it was sent", response: "Response, as it came" };
  const retries = chat.retries.map((retry) => ["retry " + retry.attempt, JSON.stringify(retry), () => h("p", { class: "note" }, `Attempt ${retry.attempt} ended with status ${retry.status ?? "unknown"}; the next one followed after ${duration(retry.delay_ms)}.`)]);
  return [...retries, ...wanted.map((name) => [name, chat.raw[name] ? chat.raw[name].h : "", () => h("div", { class: "part" }, h("div", { class: "part-name" }, names[name]), chat.raw[name] ? bodyOf(chat.raw[name], run, { role: "raw", label: names[name] }) : h("p", { class: "empty" }, `Not kept: ${reason(chat, `raw.${name}`) || why("not_recorded")}.`))])];
}

export function toolArguments(step, run) {
  const head = ["head", String(step.tool_call_id), () => h("div", { class: "block-head" }, h("h3", {}, visible(step.name || "tool")), h("code", { class: "muted" }, visible(step.tool_call_id || "no call id")), jumpToCall(step.tool_call_id), jumpToDefinition(step.name))];
  if (step.arguments === null) return [head, ...sentence(unknown(step, "arguments"))];
  return [head, ["body", step.arguments.h, () => bodyOf(step.arguments, run, { role: "arguments", label: "Arguments", line: state.tab === "arguments" ? state.line : null })]];
}

export function result(step, run) {
  const cuts = step.cut.map((cut) => [`cut ${cut.field}`, JSON.stringify(cut), () => h("p", { class: "note warning" }, `${bytes(cut.kept)} of ${bytes(cut.total)} kept: cut by the limit for tool results. The rest was never sent to the model.`)]);
  const refused = step.refused_by ? [["refused", step.refused_by, () => note(`The call was refused: ${visible(String(step.refused_by).replaceAll("_", " "))}.`)]] : [];
  if (step.state === "open") return [["open", "", () => h("div", { class: "waiting" }, h("run-clock", { since: step.started_at }), h("p", {}, "The tool is running."))]];
  const body = step.result === null ? sentence(reason(step, "result") ? unknown(step, "result") : "The tool gave no result.") : [["body", step.result.h, () => bodyOf(step.result, run, { role: "tool", label: "Result", line: state.tab === "result" ? state.line : null })]];
  return [...errorBlock(step), ...refused, ...cuts, ...body];
}

export function definitionTab(step, run) {
  if (step.definition === null) return sentence("No definition of this tool was recorded: it was not among the tools that were offered.");
  return [["definition", step.definition, () => definition({ h: step.definition }, run)]];
}

/** Every attribute and event of the span, so that nothing is hidden. */
export function span(step, run) {
  return [["span", `${step.n} ${step.state}`, () => {
    const box = h("div", { class: "blocks" });
    skeleton(box);
    get(runPath(run, `/steps/${step.n}`), { source: sourceOf(run) }).then((told) => fill(box, ...spanOf(told, run)), (error) => broken(box, error));
    return box;
  }]];
}

function spanOf(told, run) {
  if (told.span === null) return [h("p", { class: "empty" }, "The span of this step was not recorded.")];
  const facts = [["span", told.span], ["trace id", told.trace_id], ["span id", told.span_id], ["parent span", told.parent_span_id ?? "none"], ["status", told.status === null ? null : typeof told.status === "string" ? told.status : JSON.stringify(told.status)]];
  return [pairs(facts, run), h("h3", {}, "Attributes"), pairs(Object.entries(told.attributes).sort(), run),
    h("h3", {}, plural(told.events.length, "event")), ...told.events.map((event) => h("details", { class: "fold", open: true }, h("summary", {}, h("code", {}, visible(event.name))), pairs(Object.entries(event.attributes), run)))];
}

function pairs(rows, run) {
  if (!rows.length) return h("p", { class: "empty" }, "None.");
  return h("table", { class: "pairs" }, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, visible(name))), h("td", {}, valueOf(value, run))))));
}

function valueOf(value, run) {
  if (value === null || value === undefined) return h("span", { class: "muted" }, why("not_permitted"));
  if (typeof value === "object" && typeof value.h === "string" && "media_type" in value) return bodyOf(value, run, { role: "attribute", label: "Value" });
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === "" ? h("span", { class: "muted" }, "empty text") : h("span", { class: "mono prewrap" }, visible(text));
}

/** A kind that this page does not know: its JSON. */
export const json = (step) => [["json", JSON.stringify(step), () => h("pre", { class: "text", tabindex: "0" }, visible(JSON.stringify(step, null, 2)))]];
