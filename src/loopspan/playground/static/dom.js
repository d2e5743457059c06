// Building and patching of nodes, icons, the running clock. Text is always a text node: nothing
// here takes markup.

import { date, duration } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: `on*` functions listen, `true` is a bare attribute, `null` and `false` none. */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

export const byId = (id) => document.getElementById(id);

/** Replace what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...flat(children));
}

/** Set a text only where it differs, so that nothing is announced or selected anew. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Bring a container to a list of blocks `[key, signature, make]`: what has the same key and
 * signature stays the very node that it was, with its focus, scroll and open sections.
 */
export function sync(container, blocks) {
  const known = new Map();
  for (const node of [...container.children]) {
    if (node.blockKey === undefined) node.remove();
    else known.set(node.blockKey, node);
  }
  let place = container.firstChild;
  for (const [key, signature, make] of blocks) {
    let node = known.get(key);
    if (node === undefined || node.blockSignature !== signature) {
      const fresh = make();
      fresh.blockKey = key;
      fresh.blockSignature = signature;
      if (node !== undefined) {
        const focused = focusedIn(node);
        if (node === place) place = node.nextSibling;
        node.remove();
        node = fresh;
        container.insertBefore(node, place);
        refocus(node, focused);
        known.delete(key);
        continue;
      }
      node = fresh;
    }
    known.delete(key);
    if (node === place) place = place.nextSibling;
    else container.insertBefore(node, place);
  }
  for (const node of known.values()) node.remove();
}

function focusedIn(node) {
  const active = document.activeElement;
  return node.contains(active) ? active.getAttribute("data-focus") || active.id || "" : null;
}

function refocus(node, name) {
  if (!name) return;
  const again = [node, ...node.querySelectorAll("[data-focus], [id]")].find(
    (each) => each.getAttribute("data-focus") === name || each.id === name,
  );
  if (again) again.focus({ preventScroll: true });
}

/** Whether keys typed now are text. */
export function isTyping(target) {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
}

/** Control, escape and bidirectional characters as visible ones; a terminal or an eye obeys none. */
export function visible(text) {
  return text.replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g, (c) => {
    const code = c.charCodeAt(0);
    if (c === "\r") return "␍";
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** Pull a function's calls together into one per frame. */
export function perFrame(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work();
    });
  };
}

const PATHS = {
  check: "M3 8.5l3.2 3.2L13 4.8",
  cross: "M4 4l8 8M12 4l-8 8",
  scissors: "M5.2 5.4L13 12M5.2 10.6L13 4M5.5 4a1.7 1.7 0 1 1-3.4 0a1.7 1.7 0 0 1 3.4 0zM5.5 12a1.7 1.7 0 1 1-3.4 0a1.7 1.7 0 0 1 3.4 0z",
  stop: "M13.5 8a5.5 5.5 0 1 1-11 0a5.5 5.5 0 0 1 11 0zM4.2 4.2l7.6 7.6",
  leave: "M2.5 8h8M7.5 5l3 3l-3 3M13.5 3v10",
  question: "M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9.2 8 10M8 12.9v.1",
  layers: "M8 2.5L14 6L8 9.5L2 6zM2.5 9.5L8 12.8l5.5-3.3",
  running: "M8 2.5a5.5 5.5 0 1 1-5.5 5.5M8 5v3.2l2 1.6",
  waiting: "M13.5 8a5.5 5.5 0 1 1-11 0a5.5 5.5 0 0 1 11 0zM8 5v3.2l2 1.6",
  up: "M8 13.5V3M3.8 7L8 2.8L12.2 7",
  down: "M8 2.5V13M3.8 9L8 13.2L12.2 9",
  gear: "M9.8 2.6a3.6 3.6 0 0 0-4.2 4.7L2.4 10.5v3.1h3.1l3.2-3.2a3.6 3.6 0 0 0 4.7-4.2L11 8.6L8.6 7.4L7.4 5z",
  flag: "M4 14V2.5M4 3h8l-1.8 2.7L12 8.5H4",
  copy: "M5.5 5.5h7.8v7.8H5.5zM10.5 5.2V2.7H2.7v7.8h2.5",
  save: "M8 2.5v8M4.7 7.3L8 10.6l3.3-3.3M2.7 13.3h10.6",
  open: "M8 11V3M4.7 6.2L8 2.9l3.3 3.3M2.7 13.3h10.6",
  link: "M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2.3-2.3A2.6 2.6 0 0 0 9 3.3L7.9 4.4M9.3 6.7a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l1.1-1.1",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11",
  play: "M4.5 3v10l8.5-5z",
  list: "M2.5 4h11M2.5 8h11M2.5 12h11",
  pin: "M6 2.5h4l-.5 4l2.2 2.3H4.3L6.5 6.5zM8 8.8v4.7",
  note: "M3 2.5h10v7.5L9.5 13.5H3zM5.5 5.5h5M5.5 8h3",
  prev: "M10 3.5L5.5 8l4.5 4.5",
  next: "M6 3.5L10.5 8L6 12.5",
  keys: "M1.8 4.2h12.4v7.6H1.8zM4.5 7h.1M7 7h.1M9.5 7h.1M11.8 7h.1M5 9.5h6",
};

export function icon(name, extra = "") {
  const path = svg("path", { d: PATHS[name] || PATHS.question });
  return svg("svg", { class: `icon ${extra}`.trim(), viewBox: "0 0 16 16", "aria-hidden": "true", focusable: "false" }, path);
}

export class RunClock extends HTMLElement {
  connectedCallback() {
    // The server's clock may differ from this one's: what is in the future has just begun.
    this.from = Math.min(date(this.getAttribute("since")).getTime(), Date.now());
    this.tick();
    this.timer = setInterval(() => this.tick(), 200);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  tick() {
    this.textContent = duration(Date.now() - this.from);
  }
}
