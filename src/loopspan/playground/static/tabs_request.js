// Tabs of what was sent: delta, messages, tools, parameters, provenance. Each gives blocks.

import { bodyOf, broken, skeleton, whenSeen } from "./body.js";
import { fill, h, visible } from "./dom.js";
import { definition, messageBlock } from "./messages.js";
import { can, get, runPath, sourceOf, state } from "./store.js";
import { bytes, count, DROPPED, origin, plural, reason, signed, tokens, why } from "./words.js";

export const sentence = (text) => [["empty", text, () => h("p", { class: "empty" }, text)]];

export function unknown(step, field, otherwise = "not_captured") {
  return `Unknown: ${reason(step, field) || why(otherwise)}.`;
}

/** What is new in this round; what was kept is folded. */
export function delta(step, run) {
  const { delta: found } = step;
  if (found === null) return sentence(unknown(step, "delta"));
  const first = found.base_round === null;
  const blocks = [["head", JSON.stringify([found.tokens, found.tokens_source]), () => head(found, first)]];
  const broke = found.prefix_break;
  if (broke !== null) blocks.push(["break", JSON.stringify(broke), () => h("p", { class: "note warning" }, `The cached prefix breaks at message ${broke.at + 1}: ${String(broke.why).replaceAll("_", " ")}.`)]);
  const kept = found.keep.reduce((sum, [from, to]) => sum + to - from, 0);
  if (kept) blocks.push(["keep", JSON.stringify(found.keep), () => keptBlock(step, run, found, kept)]);
  for (const { at, message, was, sign } of inOrder(found)) {
    const open = sign !== "drop";
    blocks.push([`${sign} ${at}`, `${message.h} ${message.tokens}`, () => messageBlock(message, run, { sign, at, was, open, line: lineOf(at, "delta") })]);
  }
  if (!first) blocks.push(["changes", JSON.stringify([found.tools, found.parameters]), () => otherChanges(found)]);
  return blocks;
}

/** The line that the address names is one of the message that was found. */
function lineOf(at, tab) {
  if (state.line === null || state.tab !== tab) return null;
  const hit = state.search.hits[state.search.at];
  return hit && hit.field === `messages[${at}]` ? state.line : hit ? null : state.line;
}

function inOrder({ add, edit, drop }) {
  const all = [
    ...drop.map((each) => ({ at: each.from, message: each.message, sign: "drop", order: 0 })),
    ...edit.map((each) => ({ ...each, sign: "edit", order: 1 })),
    ...add.map((each) => ({ ...each, sign: "add", order: 1 })),
  ];
  return all.sort((a, b) => a.at - b.at || a.order - b.order);
}

function head(found, first) {
  const numbers = h("span", { class: "delta-numbers" }, h("span", { class: "ok" }, `+${found.add.length}`), " ", h("span", { class: "error" }, `−${found.drop.length}`), " ", h("span", { class: "warning" }, `~${found.edit.length}`));
  return h("div", { class: "block-head" },
    h("h3", {}, first ? "First request: everything is new" : `Changes since round ${found.base_round}`),
    numbers,
    h("span", { class: "spring" }),
    h("span", { class: "muted" }, `${signed(found.tokens, found.tokens_source)} tokens`));
}

function keptBlock(step, run, found, kept) {
  const intact = found.prefix_break === null;
  const list = h("div", { class: "blocks" });
  const block = h("details", { class: "kept" }, h("summary", {}, h("span", { class: "sign", "aria-hidden": "true" }, "="), ` ${plural(kept, "message")} kept${intact ? ", prefix intact" : ""}`), list);
  block.addEventListener("toggle", () => {
    if (block.open && !list.childElementCount) stretches(list, step, run, found.keep).catch((error) => broken(list, error));
  });
  return block;
}

async function stretches(list, step, run, keep) {
  skeleton(list);
  const refs = [];
  for (const [from, to] of keep) {
    for (let offset = from; offset < to; offset += 200) {
      const told = await page(step, run, offset, Math.min(200, to - offset));
      refs.push(...told.items.map((ref, at) => [offset + at, ref]));
    }
  }
  fill(list, refs.map(([at, ref]) => messageBlock(ref, run, { sign: "keep", at, open: false })));
}

const page = (step, run, offset, limit = 200) => get(runPath(run, `/rounds/${step.round}/messages`), { offset, limit, source: sourceOf(run) });

function otherChanges({ tools, parameters }) {
  const rows = [
    ...tools.add.map((name) => ["+", "tool", name]),
    ...tools.drop.map((name) => ["−", "tool", name]),
    ...tools.changed.map((name) => ["~", "tool", name]),
    ...Object.entries(parameters).map(([name, [old, now]]) => ["~", "parameter", `${name}: ${shown(old)} → ${shown(now)}`]),
  ];
  if (!rows.length) return h("p", { class: "muted small-print" }, "Tools and parameters are those of the round before.");
  return h("ul", { class: "changes" }, rows.map(([sign, what, text]) => h("li", {}, h("span", { class: "sign" }, sign), ` ${what} `, h("code", {}, visible(text)))));
}

const shown = (value) => (value === null ? "not set" : typeof value === "string" ? value : JSON.stringify(value));

/** The whole list as it was sent, in pages. */
export function messages(step, run) {
  if (step.kind === "assembled") {
    if (step.messages === null) return sentence(unknown(step, "messages"));
    return step.messages.map((ref, at) => [`m${at}`, ref.h, () => messageBlock(ref, run, { at, open: true })]);
  }
  if (step.messages === null) return sentence(unknown(step, "messages"));
  const { count: total, bytes: size } = step.messages;
  return [
    ["head", String(total), () => h("div", { class: "block-head" }, h("h3", {}, plural(total, "message")), h("span", { class: "spring" }), h("span", { class: "muted" }, bytes(size)))],
    ["list", `${total} ${size}`, () => listed(step, run)],
  ];
}

function listed(step, run) {
  const list = h("div", { class: "blocks" });
  skeleton(list);
  const more = async (offset, place) => {
    const told = await page(step, run, offset);
    const from = step.messages.new_from ?? 0;
    place.replaceWith(...told.items.map((ref, at) => messageBlock(ref, run, { at: offset + at, open: told.total <= 12 || offset + at >= from, line: lineOf(offset + at, "messages") })));
    if (told.next === null) return;
    const button = h("button", { onclick: () => more(told.next, button).catch((error) => broken(list, error)) }, `Show more (${count(told.total - told.next)} hidden)`);
    list.append(button);
  };
  whenSeen(list, () => more(0, list.firstElementChild));
  return list;
}

/** Definitions with description and a table of parameters. */
export function tools(step, run) {
  if (step.tools === null) return sentence(unknown(step, "tools"));
  if (!step.tools.length) return sentence("No tools were offered.");
  return step.tools.map((tool) => [tool.name, `${tool.h} ${tool.tokens}`, () => h("details", { class: "tool-definition", open: step.tools.length <= 8 },
    h("summary", {}, h("strong", {}, visible(tool.name)), h("span", { class: "spring" }), h("span", { class: "muted" }, `${tokens(tool.tokens, "estimated")} tok · ${bytes(tool.bytes)}`)),
    definition(tool, run))]);
}

export function parameters(step) {
  const rows = Object.entries(step.parameters || {});
  const all = [["provider", step.provider], ["model", step.model], ...rows];
  return [["table", JSON.stringify(all), () => h("table", { class: "pairs" }, h("tbody", {}, all.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, visible(name))), h("td", {}, value === null ? hidden(step, name) : visible(shown(value)))))))],
    ...(rows.length ? [] : sentence("No parameters were set; the provider's own defaults hold."))];
}

const hidden = (step, name) => h("span", { class: "muted" }, can("content") ? reason(step, name) || why("not_recorded") : why("not_permitted"));

/** Where each part comes from, with its bytes and its share of the tokens. */
export function provenance(step) {
  const { context } = step;
  const parts = context ? context.parts : [];
  if (!parts.length && !step.parts) return sentence("Origin not recorded: this trace does not say where its messages come from.");
  const blocks = [];
  if (context) blocks.push(["budget", JSON.stringify(context), () => budget(context)]);
  if (parts.length) blocks.push(["parts", JSON.stringify(parts), () => origins(parts)]);
  if (step.parts) blocks.push(["assembled", JSON.stringify(step.parts), () => assembled(step.parts)]);
  return blocks;
}

function budget(context) {
  const window = context.window === null ? "the window of this model is not known" : `a window of ${count(context.window)} (${context.window_source === "table" ? "price table" : context.window_source})`;
  const facts = [`${tokens(context.used, context.used_source)} tokens used`, window, context.reserve ? `${count(context.reserve)} reserved for the answer` : null, context.remaining === null ? null : `${count(context.remaining)} remain`];
  return h("p", { class: "block-head" }, h("span", {}, facts.filter(Boolean).join(" · ")));
}

function origins(parts) {
  const sum = parts.reduce((total, part) => total + (part.tokens || 0), 0) || 1;
  return h("table", { class: "origins-table" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Origin"), h("th", { scope: "col", class: "number" }, "Bytes"), h("th", { scope: "col", class: "number" }, "Tokens"), h("th", { scope: "col" }, h("span", { class: "unheard" }, "Share")))),
    h("tbody", {}, parts.map((part) => {
      const bar = h("span", { class: `meter series-${part.type}` });
      bar.style.width = `${((part.tokens || 0) / sum) * 100}%`;
      return h("tr", {}, h("th", { scope: "row" }, origin(part.type), part.id ? [" ", h("code", {}, visible(part.id))] : null), h("td", { class: "number" }, count(part.bytes)), h("td", { class: "number" }, tokens(part.tokens, "estimated")), h("td", { class: "meter-cell", "aria-hidden": "true" }, bar));
    })));
}

function assembled(parts) {
  return h("table", { class: "origins-table" },
    h("caption", {}, "As assembled: every piece, and where it went"),
    h("thead", {}, h("tr", {}, ["Piece", "Bytes", "Goes into"].map((name, at) => h("th", { scope: "col", class: at === 1 ? "number" : null }, name)))),
    h("tbody", {}, parts.map((part) => h("tr", { class: part.dropped ? "dropped" : null },
      h("th", { scope: "row" }, origin(part.type), part.name ? [" ", h("code", {}, visible(part.name))] : null),
      h("td", { class: "number" }, count(part.bytes)),
      h("td", {}, part.dropped ? h("span", { class: "warning" }, `left out: ${DROPPED[part.dropped] || visible(String(part.dropped))}`) : part.at === null ? "" : `message ${part.at + 1}`)))));
}

export const bodyTab = (step, run) => (step.body === null ? sentence(unknown(step, "body")) : [["body", step.body.h, () => bodyOf(step.body, run, { role: "raw", label: "Body that would be sent" })]]);
