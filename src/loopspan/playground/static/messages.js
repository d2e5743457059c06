// One message with its parts, each in its own way; and what a tool is defined as.

import { bodyOf, broken, note, skeleton, textBody, whenSeen } from "./body.js";
import { fill, h, visible } from "./dom.js";
import { field, listOf, read, written } from "./texts.js";
import { select } from "./session.js";
import { can, path, post, state, whole } from "./store.js";
import { bytes, origin, ORIGINS, tokens, why } from "./words.js";

const WHOLE = 2_000_000;
const MEDIA = 5 * 1024 * 1024;

const SIGNS = { add: ["+", "added"], drop: ["−", "dropped"], edit: ["~", "edited"], keep: ["=", "kept"] };

/** A message as a section that folds; `sign` says what became of it since the round before. */
export function messageBlock(ref, run, { sign = null, open = true, at = null, was = null, line = null } = {}) {
  const body = h("div", { class: "message-body" });
  const [mark, word] = SIGNS[sign] || [null, null];
  const head = h("summary", { class: "message-head" },
    mark && h("span", { class: `sign sign-${sign}`, "aria-hidden": "true" }, mark),
    h("span", { class: "role" }, word && h("span", { class: "unheard" }, `${word}: `), ref.role, at !== null && h("span", { class: "muted" }, ` ${at + 1}`)),
    h("span", { class: "message-told" }, told(ref)),
    h("span", { class: "origins" }, chips(ref)),
    h("span", { class: "number muted", title: `${bytes(ref.bytes)}` }, ref.tokens === null || ref.tokens === undefined ? bytes(ref.bytes) : `${tokens(ref.tokens, ref.tokens_source)} tok`));
  const block = h("details", { class: `message role-${ref.role}`, open, "data-h": ref.h }, head, body);
  const load = () => {
    if (!block.open || body.childElementCount) return;
    skeleton(body);
    whenSeen(body, () => parts(body, ref, run, { was, line }));
  };
  block.addEventListener("toggle", load);
  load();
  return block;
}

/** What can be said of a message without its body; tool calls and their ids always are. */
function told(ref) {
  const kinds = [...new Set(ref.parts)].filter((each) => each !== "text");
  const id = ref.tool_call_id ? h("code", {}, visible(ref.tool_call_id)) : null;
  return [kinds.map((each) => each.replaceAll("_", " ")).join(", "), ref.name && ref.role !== "tool" ? h("code", {}, visible(ref.name)) : null, id, h("span", { class: "preview muted" }, ref.preview === null ? "" : visible(ref.preview))].filter(Boolean).flatMap((each) => [each, " "]);
}

function chips(ref) {
  return (ref.origins || []).filter((each) => each.type !== "guard" && each.type in ORIGINS && each.type !== ref.role && !(each.type === "model" || each.type === "tool"))
    .map((each) => h("span", { class: `chip chip-${each.type}` }, each.name ? `${origin(each.type)} ${visible(each.name)}` : origin(each.type)));
}

async function parts(body, ref, run, { was, line }) {
  if (!can("content")) {
    fill(body, h("p", { class: "empty" }, `Content: ${why("not_permitted")}.`));
    return;
  }
  if (ref.preview === null && ref.parts.length > 0) {
    fill(body, h("p", { class: "empty" }, `${ref.parts.join(", ").replaceAll("_", " ")}: ${why("not_captured")}.`));
    return;
  }
  if (ref.bytes > WHOLE) {
    fill(body, note(`This message has ${bytes(ref.bytes)}; here is its JSON in pages.`), bodyOf(ref, run, { role: "raw", label: "Message" }));
    return;
  }
  const value = read(await whole(ref, run));
  const found = listOf(field(value, "parts")).map((each) => part(each, ref, run, line));
  fill(body, was ? changed(was, ref, run) : null, found.length ? found : h("p", { class: "empty" }, "A message without any part."));
}

function part(value, ref, run, line) {
  const type = field(value, "type");
  const make = PARTS[type];
  return make ? make(value, ref, run, line) : section(String(type ?? "unknown part"), textBody(written(value), run, { role: "json", label: "Part" }));
}

const section = (name, ...inner) => h("div", { class: "part" }, h("div", { class: "part-name" }, name), ...inner);

const asText = (value) => (typeof value === "string" ? value : value === undefined ? "" : written(value));

const PARTS = {
  text: (value, ref, run, line) => textBody(asText(field(value, "content")), run, { role: ref.role, line, label: `Text of ${ref.role}`, ref }),
  reasoning: (value, ref, run) => section("Thinking", textBody(asText(field(value, "content")), run, { role: "thinking", label: "Thinking" })),
  tool_call: (value, ref, run) => callBlock({ id: field(value, "id"), name: field(value, "name"), arguments: asText(field(value, "arguments")) }, run),
  tool_call_response(value, ref, run, line) {
    const id = field(value, "id");
    const result = field(value, "response") ?? field(value, "result");
    return section(["Result of ", h("code", {}, visible(String(id ?? "no call id"))), " ", jumpToCall(id)], result === undefined ? textBody(written(value), run, { role: "json", label: "Result" }) : textBody(asText(result), run, { role: "tool", line, label: "Result" }));
  },
  blob: (value, ref, run) => media(value, run),
  uri: (value) => section("Media elsewhere", h("p", {}, h("code", {}, visible(asText(field(value, "uri")))), " is never loaded by this page.")),
};

/** A tool call with its id and arguments, and ways to its result and its definition. */
export function callBlock(call, run, body = null) {
  return h("div", { class: "part call" },
    h("div", { class: "part-name" }, "Tool call ", h("strong", {}, visible(call.name || "without a name")), " ", h("code", {}, visible(call.id || "no call id")), " ", jumpToResult(call.id), " ", jumpToDefinition(call.name)),
    body || (call.arguments === "" ? h("p", { class: "empty" }, "Called without arguments.") : textBody(call.arguments, run, { role: "arguments", label: "Arguments" })));
}

const jump = (words, go) => h("button", { class: "small quiet link", "data-focus": words, onclick: go }, words);

const find = (test) => state.steps.find((each) => each !== undefined && test(each));

export function jumpToResult(id) {
  const found = id && find((each) => each.kind === "tool" && each.tool_call_id === id);
  return found ? jump("result", () => select(found.n, { tab: "result" })) : null;
}

export function jumpToCall(id) {
  const found = id && find((each) => each.kind === "chat" && (each.tool_calls || []).some((call) => call.id === id));
  return found ? jump("call", () => select(found.n, { tab: "answer" })) : null;
}

export function jumpToDefinition(name) {
  const found = name && find((each) => each.tools && Array.isArray(each.tools) && each.tools.some((tool) => tool.name === name));
  return found ? jump("definition", () => select(found.n, { tab: "tools" })) : null;
}

function media(value, run) {
  const kind = asText(field(value, "mime_type")) || "media";
  const content = asText(field(value, "content"));
  const size = Math.floor((content.length * 3) / 4);
  const isImage = /^image\/(png|jpeg|gif|webp)$/.test(kind) && /^[A-Za-z0-9+/]+={0,2}$/.test(content);
  const box = h("div", {}, h("p", { class: "muted" }, `${kind}, ${bytes(size)}`));
  if (isImage && size <= MEDIA) {
    const button = h("button", { class: "small", onclick: () => button.replaceWith(h("img", { src: `data:${kind};base64,${content}`, alt: `${kind}, ${bytes(size)}`, class: "media" })) }, "Show picture");
    box.append(button);
  } else box.append(textBody(content, run, { role: "media", label: "Media" }));
  return section("Media", box);
}

/** The difference to what a message was in the round before, on demand. */
function changed(was, ref, run) {
  const box = h("div", { class: "difference" });
  const show = ({ capped, hunks }) => fill(box, capped ? note("Too long to compare; both are shown whole.") : hunks.length ? hunks.map(hunk) : note("The texts are the same; details beside them differ."));
  const ask = (mode) => post(path("api/diff", { run: run.run_id }), { a: was, b: ref.h, mode }).then(show).catch((error) => broken(box, error));
  const button = (words, mode) => h("button", { class: "small", onclick: () => ask(mode) }, words);
  return h("div", { class: "part" }, h("div", { class: "part-name" }, "Edited since the round before ", button("By lines", "line"), " ", button("By words", "word")), box);
}

const TAGS = { "=": "span", "-": "del", "+": "ins" };

const hunk = (each) => h("pre", { class: "hunk", tabindex: "0" }, each.pieces.map(({ op, text }, at) => [at && op !== "=" && each.pieces[at - 1].text.endsWith("\n") ? "" : null, h(TAGS[op], {}, visible(text))]));

/** Show the definition that `ref` names. */
export function definition(ref, run) {
  const box = h("div", { class: "definition" });
  skeleton(box);
  return whenSeen(box, async () => {
    const text = await whole(ref, run);
    fill(box, ...drawn(read(text)), h("details", { class: "fold" }, h("summary", {}, "As JSON"), textBody(text, run, { role: "json", label: "Definition" })));
  });
}

function drawn(value) {
  const description = field(value, "description");
  const rows = parameters(field(value, "parameters"));
  return [
    h("p", {}, typeof description === "string" && description ? visible(description) : h("span", { class: "muted" }, "No description.")),
    rows.length ? table(rows) : h("p", { class: "muted" }, "Takes no parameters."),
  ];
}

function parameters(schema, prefix = "", depth = 0) {
  const properties = field(schema, "properties");
  if (properties === undefined || depth > 3) return [];
  const required = new Set(listOf(field(schema, "required")));
  return properties.items.flatMap(([name, each]) => [
    { name: prefix + name, required: required.has(name), type: typeOf(each), description: field(each, "description") },
    ...parameters(each, `${prefix}${name}.`, depth + 1),
    ...parameters(field(each, "items"), `${prefix}${name}[].`, depth + 1),
  ]);
}

function typeOf(schema) {
  const type = field(schema, "type");
  const name = typeof type === "string" ? type : listOf(type).join(" or ");
  const values = listOf(field(schema, "enum")).map((each) => written(each));
  const either = listOf(field(schema, "anyOf")).map(typeOf).join(" or ");
  return [name || either || "any", values.length ? `: ${values.join(", ")}` : ""].join("");
}

function table(rows) {
  return h("table", { class: "parameters" },
    h("thead", {}, h("tr", {}, ["Parameter", "Type", "Description"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {},
      h("th", { scope: "row" }, h("code", {}, visible(row.name)), row.required ? h("span", { class: "required" }, " required") : null),
      h("td", {}, visible(row.type)),
      h("td", {}, typeof row.description === "string" ? visible(row.description) : "")))));
}
