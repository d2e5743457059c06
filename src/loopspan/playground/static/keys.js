// The keyboard: single keys when nobody is writing, and a switch that turns them off.

import { byId, isTyping } from "./dom.js";
import { openCopy } from "./menus.js";
import { closeRun, select, selectTab, tabsOf } from "./session.js";
import { neighbour } from "./steps.js";
import { flagged, passes, setFollow, settings, state, step } from "./store.js";

const PAGE = 10;

export function keyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key !== "Escape" && !settings.get("shortcuts", true) && !inTree(event)) return;
    const act = ACTIONS[event.key] || (/^[1-9]$/.test(event.key) ? nthTab : null);
    if (act === null || act === undefined) return;
    if (MOVES.has(event.key) && !inTree(event) && scrolls(event.target)) return;
    if (act(event) !== false) event.preventDefault();
  });
}

const MOVES = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"]);

const inTree = (event) => byId("steps").contains(event.target);

/** Arrows inside a pane, a tab list, a radio or a table scroll and move there. */
function scrolls(target) {
  return target instanceof Element && target.closest("#detail, #runs, input, select, [role=tablist], .chart-box") !== null;
}

const move = (by) => () => go(neighbour(by));

function go(n) {
  if (n === null) return false;
  select(n);
  byId(`step-${n}`)?.focus({ preventScroll: true });
  return true;
}

const edge = (from, by) => () => go(neighbour(by, from()));

const round = (by) => () => {
  const here = step();
  if (here === null) return false;
  const starts = state.steps.filter((each) => each && each.kind === "request" && passes(each));
  const found = by > 0 ? starts.find((each) => each.n > here.n) : starts.filter((each) => each.n < here.n && each.round !== here.round).pop();
  return found ? go(found.n) : false;
};

const isTrouble = (each) => each && (each.state === "error" || each.is_error || flagged(each.n));

const trouble = (by) => () => {
  const all = state.steps.filter((each) => isTrouble(each) && passes(each)).map((each) => each.n);
  const here = state.selected || 0;
  const n = by > 0 ? (all.find((each) => each > here) ?? all[0]) : (all.filter((each) => each < here).pop() ?? all[all.length - 1]);
  return go(n ?? null);
};

function nthTab(event) {
  const name = tabsOf(step())[Number(event.key) - 1];
  if (name === undefined) return false;
  selectTab(name);
  return true;
}

function search() {
  const input = state.run === null || byId("search").disabled ? byId("run-search") : byId("search");
  if (input === byId("run-search")) showRuns();
  input.focus();
  input.select();
}

export function showRuns() {
  document.body.classList.add("drawer");
}

function runs() {
  showRuns();
  (byId("runs-rows").querySelector("a[aria-current]") || byId("runs-rows").querySelector("a") || byId("run-search")).focus();
}

function back(event) {
  if (document.body.classList.contains("drawer") && getComputedStyle(byId("runs-open")).display !== "none") {
    document.body.classList.remove("drawer");
    byId("runs-open").focus();
    return true;
  }
  if (event.target instanceof Element && event.target.closest("#detail")) {
    return go(state.selected);
  }
  if (state.run !== null) {
    closeRun();
    runs();
    return true;
  }
  return false;
}

const ACTIONS = {
  j: move(1), ArrowDown: move(1), k: move(-1), ArrowUp: move(-1),
  PageDown: move(PAGE), PageUp: move(-PAGE), Home: edge(() => 0, 1), End: edge(() => state.steps.length + 1, -1),
  "]": round(1), "[": round(-1), n: trouble(1), N: trouble(-1),
  "/": search, r: runs, c: () => openCopy(), f: () => setFollow(!state.follow), m: () => selectTab("messages"),
  "?": () => byId("help-dialog").showModal(), Escape: back,
  Enter: (event) => (inTree(event) ? byId("pane").focus() : false),
};
