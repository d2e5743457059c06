// The growth of the context: tokens per round, stacked by origin, the cached share hatched, the
// cost as a line. Each round is a button; the same numbers stand in a table.

import { byId, fill, h, svg } from "./dom.js";
import { select } from "./session.js";
import { settings, state, subscribe } from "./store.js";
import { count, origin, ORIGINS, short, tokens, usd } from "./words.js";

const HEIGHT = 96;
const WIDE = 44;
const NARROW = 10;

let drawn = "";

export function chart() {
  for (const topic of ["run", "steps", "opened"]) subscribe(topic, show);
  subscribe("selection", mark);
  const box = byId("context");
  box.open = settings.get("context", true);
  box.addEventListener("toggle", () => settings.set("context", box.open));
}

/** The rounds of the run itself; agents that its tools called have their own. */
function rounds() {
  return state.steps.filter((each) => each && each.kind === "request" && each.context && each.context.used !== null && !each.depth).map((each) => {
    const chat = state.steps.find((other) => other && other.kind === "chat" && other.span_id === each.span_id);
    const cached = chat ? chat.usage.cache_read_input_tokens : null;
    return { n: each.n, round: each.round, context: each.context, cached, cost: chat ? chat.cost_usd : null };
  });
}

function show() {
  const found = rounds();
  byId("context").hidden = found.length === 0;
  const signature = JSON.stringify(found.map(({ n, context, cached, cost }) => [n, context.used, context.used_source, cached, cost]));
  if (signature === drawn && byId("chart").childElementCount) return;
  drawn = signature;
  if (!found.length) return;
  const last = found[found.length - 1].context;
  const limit = last.window === null ? null : last.window - (last.reserve || 0);
  fill(byId("context-told"), sentence(found, limit));
  fill(byId("chart"), bars(found, limit));
  fill(byId("legend"), legend(found));
  fill(byId("chart-table"), table(found));
  mark();
}

function sentence(found, limit) {
  const { context } = found[found.length - 1];
  const parts = [`${tokens(context.used, context.used_source)} tokens in round ${found[found.length - 1].round}`];
  if (limit !== null) parts.push(`${percent(context.used / limit)} of ${count(limit)} (window ${short(context.window)} − reserve ${short(context.reserve || 0)})`);
  else parts.push("the window of this model is not known");
  return parts.join(" · ");
}

const percent = (share) => (share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(share * 100)} %`);

function bars(found, limit) {
  const highest = Math.max(...found.map((each) => each.context.used), 1);
  const top = limit !== null && limit < highest * 3 ? Math.max(limit, highest) : highest * 1.15;
  const wide = found.length > 24 ? NARROW : WIDE;
  const gap = found.length > 24 ? 2 : 8;
  const width = found.length * (wide + gap);
  const cost = found.reduce((sums, each) => [...sums, (sums[sums.length - 1] || 0) + (each.cost || 0)], []);
  const most = cost[cost.length - 1];
  const picture = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true", focusable: "false" },
    svg("defs", {}, svg("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svg("rect", { width: 2, height: 5, class: "hatch" }))),
    found.map((each, at) => column(each, at * (wide + gap) + gap / 2, wide, top)),
    limit !== null && limit <= top ? svg("line", { x1: 0, x2: width, y1: y(limit, top), y2: y(limit, top), class: "limit" }) : null,
    most > 0 ? svg("polyline", { class: "cost-line", points: cost.map((sum, at) => `${at * (wide + gap) + gap / 2 + wide / 2},${HEIGHT - 2 - (sum / most) * (HEIGHT - 14)}`).join(" ") }) : null);
  const buttons = found.map((each) => {
    const label = `Round ${each.round}: ${tokens(each.context.used, each.context.used_source)} tokens${each.cached ? `, ${count(each.cached)} cached` : ""}${each.cost ? `, ${usd(each.cost)}` : ""}`;
    const button = h("button", { class: "round-button", "data-n": each.n, "aria-label": label, title: label, onclick: () => select(each.n) }, wide === WIDE ? `r${each.round}` : "");
    button.style.width = `${wide + gap}px`;
    return button;
  });
  const name = `Context growth: ${found.map((each) => `round ${each.round} ${count(each.context.used)} tokens`).slice(0, 20).join(", ")}`;
  const inner = h("div", { class: "chart-inner", role: "group", "aria-label": name }, picture, h("div", { class: "round-buttons" }, buttons));
  inner.style.width = `${width}px`;
  return inner;
}

const y = (used, top) => HEIGHT - (used / top) * HEIGHT;

function column({ context, cached }, x, wide, top) {
  let from = 0;
  const known = context.parts.reduce((sum, part) => sum + (part.tokens || 0), 0);
  const stacked = known ? merged(context.parts) : [["unknown", context.used]];
  const rows = stacked.map(([type, size]) => {
    const high = (size / top) * HEIGHT;
    const rect = svg("rect", { x, y: HEIGHT - from - high, width: wide, height: Math.max(high - 0.5, 0.5), class: `series series-${type}` });
    from += high;
    return rect;
  });
  if (cached) rows.push(svg("rect", { x, y: y(cached, top), width: wide, height: (cached / top) * HEIGHT, fill: "url(#hatch)" }));
  return rows;
}

/** Parts of one origin as one, in the order in which they are stacked. */
function merged(parts) {
  const sums = new Map();
  for (const type of Object.keys(ORIGINS)) sums.set(type, 0);
  for (const part of parts) sums.set(part.type, (sums.get(part.type) || 0) + (part.tokens || 0));
  return [...sums].filter(([, size]) => size > 0);
}

function legend(found) {
  const types = new Set(found.flatMap((each) => merged(each.context.parts).map(([type]) => type)));
  const rows = Object.keys(ORIGINS).filter((type) => types.has(type)).map((type) => h("li", {}, h("span", { class: `swatch series-${type}`, "aria-hidden": "true" }), origin(type)));
  if (found.some((each) => each.cached)) rows.push(h("li", {}, h("span", { class: "swatch swatch-hatch", "aria-hidden": "true" }), "read from the cache"));
  if (found.some((each) => each.cost)) rows.push(h("li", {}, h("span", { class: "swatch swatch-cost", "aria-hidden": "true" }), "cost so far"));
  return rows;
}

function table(found) {
  const types = [...new Set(found.flatMap((each) => merged(each.context.parts).map(([type]) => type)))];
  return h("table", { class: "origins-table" },
    h("thead", {}, h("tr", {}, ["Round", "Tokens", "Cached", "Cost", ...types.map(origin)].map((name) => h("th", { scope: "col", class: "number" }, name)))),
    h("tbody", {}, found.map((each) => {
      const sums = new Map(merged(each.context.parts));
      return h("tr", {}, h("th", { scope: "row", class: "number" }, String(each.round)), [tokens(each.context.used, each.context.used_source), count(each.cached), usd(each.cost), ...types.map((type) => (sums.has(type) ? `≈ ${count(sums.get(type))}` : "0"))].map((text) => h("td", { class: "number" }, text)));
    })));
}

function mark() {
  const selected = state.steps[(state.selected || 0) - 1];
  for (const button of byId("chart").querySelectorAll(".round-button")) {
    const mine = selected !== undefined && state.steps[Number(button.dataset.n) - 1]?.round === selected.round;
    button.setAttribute("aria-pressed", String(mine));
  }
}
