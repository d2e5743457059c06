// A small part of Markdown, as nodes: headings, lists, quotes, code, emphasis, links, tables' text.
// No HTML, no images: what a model wrote never loads anything.

import { h, visible } from "./dom.js";

export const MOST_CHARACTERS = 150_000;

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
