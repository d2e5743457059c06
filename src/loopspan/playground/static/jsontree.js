// JSON as a tree that opens on demand. Its own small reader keeps each number's source text:
// JSON.parse makes 12345678901234567000 out of 12345678901234567890.

import { h, visible } from "./dom.js";
import { count } from "./format.js";

const CHILDREN = 100;
const MOST_ROWS = 3333;
export const MOST_CHARACTERS = 2_000_000;

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
