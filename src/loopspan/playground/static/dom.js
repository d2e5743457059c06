// Building and patching of nodes. Text is always a text node: nothing here takes markup.

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
