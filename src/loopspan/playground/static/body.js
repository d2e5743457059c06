// A body: a text in pages, as Text, Markdown, JSON or Raw. Fetched when it comes into view.

import { fill, h, icon, visible } from "./dom.js";
import { downloadOf, PAGE, part, settings, state, whole } from "./store.js";
import { markdown, MOST_JSON, MOST_MARKDOWN, read, tree, written } from "./texts.js";
import { bytes, count } from "./words.js";

const WHOLE = 2_000_000;

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    entry.target.load();
  }
}, { rootMargin: "400px" });

/** Load something into an element once it comes into view; what fails is told there. */
export function whenSeen(element, load) {
  element.load = () => load().catch((error) => broken(element, error));
  seen.observe(element);
  return element;
}

/** A box for a BodyRef; `role` is what the chosen view is remembered for. */
export function bodyOf(ref, run, { role = "body", line = null, label = "Body" } = {}) {
  const box = h("div", { class: "body", "data-body": ref.h });
  skeleton(box);
  return whenSeen(box, async () => {
    const page = ref.bytes <= PAGE ? { text: await whole(ref, run), next: null, total: ref.bytes } : await part(ref, run);
    show(box, page, { ref, run, role, line, label });
  });
}

/** The same for a text that is there already. */
export function textBody(text, run, { role = "text", line = null, label = "Text", ref = null } = {}) {
  const box = h("div", { class: "body" });
  show(box, { text, next: null, total: null }, { ref, run, role, line, label, local: true });
  return box;
}

export function skeleton(box) {
  fill(box, h("div", { class: "skeleton", "aria-hidden": "true" }));
}

export function broken(box, error) {
  fill(box, h("p", { class: "empty" }, `This body cannot be shown: ${error.message}.`, error.hint ? ` ${error.hint}` : ""));
}

function viewsOf(text) {
  const views = ["text"];
  if (text.length <= MOST_MARKDOWN) views.push("markdown");
  const head = text.trimStart()[0];
  if (text.length <= MOST_JSON && (head === "{" || head === "[")) views.push("json");
  return [...views, "raw"];
}

const NAMES = { text: "Text", markdown: "Markdown", json: "JSON", raw: "Raw" };

function byContent(text, views) {
  if (views.includes("json")) return "json";
  return views.includes("markdown") && /^(#{1,4} |[-*] |\d+\. |```|> )|\*\*[^*\n]+\*\*|\]\(https?:/m.test(text) ? "markdown" : "text";
}

function show(box, page, given) {
  const { text } = page;
  if (text === "" && page.next === null) {
    fill(box, h("p", { class: "empty" }, "Empty: a text of no characters."));
    return;
  }
  const views = viewsOf(text);
  const liked = settings.get(`view.${given.role}`);
  const view = given.line !== null ? "text" : views.includes(liked) ? liked : byContent(text, views);
  const pane = h("div", { class: "pane" });
  const buttons = views.map((name) => h("button", { class: "small quiet", "aria-pressed": String(name === view), "data-focus": `view-${name}`, onclick: (event) => {
    settings.set(`view.${given.role}`, name);
    for (const each of buttons) each.setAttribute("aria-pressed", String(each === event.currentTarget));
    draw(pane, name, page, given);
  } }, NAMES[name]));
  const tools = h("div", { class: "body-tools", role: "group", "aria-label": `View of ${given.label}` }, buttons, h("span", { class: "spring" }),
    page.total !== null && page.total > PAGE ? h("span", { class: "muted" }, bytes(page.total)) : null,
    given.ref ? h("a", { class: "tool-link", href: downloadOf(given.ref, given.run), download: true, title: "Download", "aria-label": `Download ${given.label}` }, icon("save")) : null);
  fill(box, tools, pane);
  draw(pane, view, page, given);
}

function draw(pane, view, page, given) {
  const { text } = page;
  if (view === "markdown") fill(pane, markdown(text));
  else if (view === "json") fill(pane, ...asJson(text, page, given, pane));
  else fill(pane, ...asText(text, page, given, view));
  highlight(pane);
}

function asJson(text, page, given, pane) {
  if (page.next !== null) {
    if (page.total > WHOLE) return [note("Too large for a tree. Here is the text; the whole of it can be downloaded."), ...asText(text, page, given, "raw")];
    whole(given.ref, given.run).then((all) => draw(pane, "json", { text: all, next: null, total: page.total }, given), (error) => broken(pane, error));
    return [h("div", { class: "skeleton" })];
  }
  try {
    return [tree(read(text))];
  } catch (error) {
    return [note(`This is no valid JSON (${error.message}). Here is the text as it is.`), ...asText(text, page, given, "raw")];
  }
}

export const note = (text) => h("p", { class: "note" }, text);

function asText(text, page, given, view) {
  const pre = h("pre", { class: "text", tabindex: "0", "aria-label": given.label });
  const shown = view === "raw" ? visible(text) : visible(pretty(text, page));
  const cut = given.local && shown.length > PAGE ? PAGE : shown.length;
  append(pre, shown.slice(0, cut), given.line);
  if (cut < shown.length) return [pre, rest(pre, shown, cut)];
  return page.next === null ? [pre] : [pre, pages(pre, page, given)];
}

/** JSON on several lines, numbers as they were written; anything else as it is. */
function pretty(text, page) {
  const head = text.trimStart()[0];
  if (page.next !== null || (head !== "{" && head !== "[") || text.length > 200_000) return text;
  try {
    return written(read(text));
  } catch {
    return text;
  }
}

function append(pre, text, line) {
  const lines = line === null ? [] : text.split("\n");
  if (line === null || line > lines.length) {
    pre.append(text);
    return;
  }
  const before = lines.slice(0, line - 1).join("\n");
  const mark = h("mark", { class: "line" }, lines[line - 1] || " ");
  pre.append(before && `${before}\n`, mark, lines.length > line ? `\n${lines.slice(line).join("\n")}` : "");
  requestAnimationFrame(() => mark.scrollIntoView({ block: "center" }));
}

function rest(pre, text, from) {
  const button = h("button", { class: "small", onclick: () => {
    const end = Math.min(from + PAGE, text.length);
    pre.append(text.slice(from, end));
    button.replaceWith(end < text.length ? rest(pre, text, end) : "");
    highlight(pre);
  } }, `Show more (${count(text.length - from)} characters hidden)`);
  return button;
}

function pages(pre, page, given) {
  const button = h("button", { class: "small", onclick: async () => {
    button.disabled = true;
    try {
      const more = await part(given.ref, given.run, page.next);
      pre.append(visible(more.text));
      button.replaceWith(more.next === null ? "" : pages(pre, more, given));
      highlight(pre);
    } catch (error) {
      button.replaceWith(h("p", { class: "empty" }, error.message));
    }
  } }, `Show more (${bytes(page.total - page.next)} hidden)`);
  return button;
}

/** Mark what was searched for, without touching the nodes. */
export function highlight(root) {
  if (!("highlights" in CSS)) return;
  const wanted = state.search.q.toLowerCase();
  const ranges = CSS.highlights.get("found") || new Highlight();
  CSS.highlights.set("found", ranges);
  if (!wanted) {
    ranges.clear();
    return;
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.size < 5000; node = walker.nextNode()) {
    const low = node.data.toLowerCase();
    if (low.length !== node.data.length) continue;
    for (let at = low.indexOf(wanted); at >= 0 && ranges.size < 5000; at = low.indexOf(wanted, at + wanted.length)) {
      const range = new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + wanted.length });
      ranges.add(range);
    }
  }
}
