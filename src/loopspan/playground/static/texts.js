// JSON as a tree, with each number by its source text (JSON.parse makes 12345678901234567000 out of
// 12345678901234567890); and a small part of Markdown, as nodes: nothing is loaded, no HTML.

import { h, visible } from "./dom.js";
import { count } from "./words.js";

const CHILDREN = 100;
const MOST_ROWS = 3333;
export const MOST_JSON = 2_000_000;

/** A number as it was written. */
class Num {
  constructor(text) {
    this.text = text;
  }
}

/** Read a text; throws where it is no JSON. Objects are lists of pairs, so that no key is special. */
export function read(text) {
  let at = 0;
  const space = /[ \t\n\r]*/y;
  const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  const string = /"(?:[^"\\\u0000-\u001F]|\\.)*"/y;
  const next = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) at = pattern.lastIndex;
    return found === null ? null : found[0];
  };
  const fail = () => {
    throw new SyntaxError(`no JSON at character ${at}`);
  };
  const expect = (character) => {
    next(space);
    if (text[at] !== character) fail();
    at += 1;
  };
  const value = (depth) => {
    if (depth > 200) fail();
    next(space);
    const c = text[at];
    if (c === "{" || c === "[") return many(c, depth);
    if (c === '"') return JSON.parse(next(string) ?? fail());
    for (const [word, meaning] of [["true", true], ["false", false], ["null", null]]) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return meaning;
      }
    }
    return new Num(next(number) ?? fail());
  };
  const many = (open, depth) => {
    const isList = open === "[";
    const close = isList ? "]" : "}";
    const items = [];
    at += 1;
    next(space);
    if (text[at] === close) {
      at += 1;
      return { isList, items };
    }
    for (;;) {
      next(space);
      let key = items.length;
      if (!isList) {
        key = JSON.parse(next(string) ?? fail());
        expect(":");
      }
      items.push([key, value(depth + 1)]);
      next(space);
      if (text[at] === ",") at += 1;
      else {
        expect(close);
        return { isList, items };
      }
    }
  };
  const found = value(0);
  next(space);
  if (at !== text.length) fail();
  return found;
}

const isMany = (value) => value !== null && typeof value === "object" && !(value instanceof Num);

/** Build the tree of a value that was read; what is deeper than the first levels is folded. */
export function tree(value, open = 2) {
  return h("div", { class: "json mono" }, node(null, value, open));
}

function node(key, value, open) {
  const name = key === null ? null : h("span", { class: "json-key" }, typeof key === "number" ? String(key) : visible(JSON.stringify(key)), h("span", { class: "muted" }, ": "));
  if (!isMany(value)) return h("div", { class: "json-row" }, name, leaf(value));
  const size = value.items.length;
  const label = value.isList ? `[ ${count(size)} ]` : `{ ${count(size)} }`;
  if (size === 0) return h("div", { class: "json-row" }, name, h("span", { class: "muted" }, value.isList ? "[ ]" : "{ }"));
  const inner = h("div", { class: "json-inner" });
  const folded = h("details", { class: "json-many" }, h("summary", {}, name, h("span", { class: "muted" }, label)), inner);
  const grow = () => {
    if (folded.open && inner.childElementCount === 0) more(inner, value, 0, open - 1);
  };
  folded.addEventListener("toggle", grow);
  if (open > 0 && size <= CHILDREN) {
    folded.open = true;
    grow();
  }
  return folded;
}

function more(inner, { items }, from, open) {
  const end = Math.min(from + CHILDREN, items.length, from + MOST_ROWS);
  for (const [key, value] of items.slice(from, end)) inner.append(node(key, value, open));
  if (end >= items.length) return;
  const button = h("button", { class: "small", onclick: () => {
    button.remove();
    more(inner, { items }, end, open);
  } }, `Show ${count(Math.min(CHILDREN, items.length - end))} more (${count(items.length - end)} hidden)`);
  inner.append(button);
}

function leaf(value) {
  if (value instanceof Num) return h("span", { class: "json-number" }, value.text);
  if (typeof value === "string") return h("span", { class: "json-string" }, visible(JSON.stringify(value)));
  return h("span", { class: "json-word" }, String(value));
}

/** Write a value that was read, a line a value; numbers and order stay as they were. */
export function written(value, indent = "") {
  if (value instanceof Num) return value.text;
  if (!isMany(value)) return JSON.stringify(value);
  if (value.items.length === 0) return value.isList ? "[]" : "{}";
  const deeper = `${indent}  `;
  const rows = value.items.map(([key, each]) => `${deeper}${value.isList ? "" : `${JSON.stringify(key)}: `}${written(each, deeper)}`);
  return `${value.isList ? "[" : "{"}\n${rows.join(",\n")}\n${indent}${value.isList ? "]" : "}"}`;
}

/** The items of an object that was read, by key; `undefined` for what is none. */
export function field(value, name) {
  if (!isMany(value) || value.isList) return undefined;
  const found = value.items.find(([key]) => key === name);
  return found === undefined ? undefined : found[1];
}

export const listOf = (value) => (isMany(value) && value.isList ? value.items.map(([, each]) => each) : []);

export const MOST_MARKDOWN = 150_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

/** Build the nodes of a text. */
export function markdown(text) {
  const root = h("div", { class: "markdown" });
  const lines = visible(text).split("\n");
  let at = 0;
  while (at < lines.length) at = block(lines, at, root);
  return root;
}

function block(lines, at, root) {
  const line = lines[at];
  if (!line.trim()) return at + 1;
  const fence = FENCE.exec(line);
  if (fence !== null) return code(lines, at, fence[1], root);
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line);
  if (heading !== null) {
    root.append(h("p", { class: `heading heading-${heading[1].length}` }, inline(heading[2])));
    return at + 1;
  }
  if (/^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
    root.append(h("hr"));
    return at + 1;
  }
  if (ITEM.test(line)) return list(lines, at, root);
  if (/^ {0,3}>/.test(line)) return quote(lines, at, root);
  return paragraph(lines, at, root);
}

function code(lines, at, mark, root) {
  const rows = [];
  let next = at + 1;
  while (next < lines.length && !(lines[next].trim().startsWith(mark) && /^\s*[`~]+\s*$/.test(lines[next]))) rows.push(lines[next++]);
  root.append(h("pre", { class: "code", tabindex: "0" }, rows.join("\n")));
  return next + 1;
}

function list(lines, at, root) {
  const ordered = /^\s*\d/.test(lines[at]);
  const element = h(ordered ? "ol" : "ul", { class: "items" });
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (item === null) break;
    const row = h("li", {}, inline(item[3]));
    row.style.setProperty("--depth", String(Math.min(Math.floor(item[1].length / 2), 6)));
    element.append(row);
    next += 1;
    while (next < lines.length && /^\s+\S/.test(lines[next]) && !ITEM.test(lines[next])) row.append(" ", ...inline(lines[next++].trim()));
  }
  root.append(element);
  return next;
}

function quote(lines, at, root) {
  const rows = [];
  let next = at;
  while (next < lines.length && /^ {0,3}>/.test(lines[next])) rows.push(lines[next++].replace(/^ {0,3}> ?/, ""));
  root.append(h("blockquote", {}, inline(rows.join("\n"))));
  return next;
}

function paragraph(lines, at, root) {
  const rows = [];
  let next = at;
  while (next < lines.length && lines[next].trim() && !(next > at && (FENCE.test(lines[next]) || ITEM.test(lines[next]) || /^ {0,3}(#{1,6}\s|>)/.test(lines[next])))) rows.push(lines[next++]);
  root.append(h("p", {}, inline(rows.join("\n"))));
  return next;
}

const INLINE = /(`+)([^`](?:[\s\S]{0,2000}?[^`])?)\1(?!`)|\*\*([^*\n]{1,2000})\*\*|\*([^*\s][^*\n]{0,2000})\*|!?\[([^\]\n]{0,1000})\]\(([^)\s]{1,2000})\)/g;

function inline(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(text.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[1]) nodes.push(h("code", {}, found[2]));
    else if (found[3]) nodes.push(h("strong", {}, found[3]));
    else if (found[4]) nodes.push(h("em", {}, found[4]));
    else nodes.push(link(found[0], found[5], found[6]));
  }
  nodes.push(text.slice(at));
  return nodes.filter((each) => each !== "");
}

/** A link shows where it goes; what is no web address, and every picture, stays text. */
function link(source, words, target) {
  if (source.startsWith("!") || !/^https?:\/\//i.test(target)) return source;
  let url;
  try {
    url = new URL(target);
  } catch {
    return source;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return source;
  return h("a", { href: url.href, rel: "noopener noreferrer", target: "_blank" }, words && words !== target ? `${words} (${target})` : target);
}
