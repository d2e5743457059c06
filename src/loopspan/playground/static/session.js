// Which run is open, which step is selected, and the address that says so.

import { announce, changes, get, runPath, setFollow, settings, sourceOf, state, step } from "./store.js";
import { kind } from "./words.js";

const listening = { run: () => {} };
let opening = 0; // of runs that are opened one after the other, the last one counts

/** Say who is to be told that another run is open (the live stream). */
export function onOpened(callback) {
  listening.run = callback;
}

/** Read `#run/ID/N/TAB/LLINE`. */
export function parsed(hash) {
  const [what, id, n, tab, line] = hash.replace(/^#/, "").split("/").map(decodeURIComponent);
  if (what !== "run" || !id) return null;
  return {
    id,
    n: /^\d+$/.test(n || "") ? Number(n) : null,
    tab: tab || null,
    line: /^L\d+$/.test(line || "") ? Number(line.slice(1)) : null,
  };
}

export function address() {
  if (state.run === null) return location.pathname + location.search;
  const parts = ["run", encodeURIComponent(state.run.run_id)];
  if (state.selected !== null) parts.push(state.selected);
  if (state.selected !== null && state.tab !== null) parts.push(state.tab);
  if (state.selected !== null && state.tab !== null && state.line !== null) parts.push(`L${state.line}`);
  return `#${parts.join("/")}`;
}

const remembered = () => ({ source: state.run === null ? null : sourceOf(state.run) });

const moved = () => history.replaceState(remembered(), "", address());

/**
 * Open a run; `push` makes a new entry of the history, `started` says that it was begun just now.
 * Returns whether it is open: somebody may have opened another meanwhile, or closed all.
 */
export async function openRun(id, { n = null, tab = null, line = null, source = null, push = true, started = false } = {}) {
  const mine = (opening += 1);
  const first = await page(id, source, 1);
  if (mine !== opening) return false;
  const again = state.run !== null && state.run.run_id === id && state.run.source.type === first.run.source.type;
  state.run = first.run;
  state.steps = first.steps;
  state.words = first.text;
  if (!again) state.search = { q: "", hits: [], total: 0, at: -1, capped: false };
  const wanted = n === null ? start(first, started) : n <= first.run.step_count ? n : null;
  choose(wanted, tab, line);
  if (push && !again) history.pushState(remembered(), "", address());
  else moved();
  listening.run(state.run);
  if (!again) changes("shown");
  changes("opened");
  changes("run");
  changes("selection");
  for (let next = first.next; next !== null; ) {
    const more = await page(id, source, next);
    if (mine !== opening) return false;
    for (const each of more.steps) {
      state.steps[each.n - 1] ||= each;
      changes("steps", each.n);
    }
    next = more.next;
    if (state.selected !== wanted) continue;
    if (!tabsOf(step()).includes(state.tab)) choose(wanted, tab, line);
    changes("selection");
  }
  return true;
}

/**
 * The step that a run opens at: its newest where it is followed, else its first error, else its first.
 *
 * A run that was begun just now counts as followed even if it is over already, so that where one
 * ends up does not depend on how fast the model was.
 */
function start({ run, steps }, started) {
  if (steps.length === 0) return null;
  if (state.follow && (started || run.outcome === "running")) return run.step_count;
  return (steps.find((each) => each.state === "error") || steps[0]).n;
}

const page = (id, source, from) => get(runPath({ run_id: id }), { from, source });

/** Load what may have been missed: steps that are the same stay as they are. */
export async function reload() {
  if (state.run === null) return;
  const { run_id: id } = state.run;
  const source = sourceOf(state.run);
  for (let from = 1; from !== null; ) {
    const told = await page(id, source, from);
    if (state.run === null || state.run.run_id !== id) return;
    state.run = told.run;
    state.words = told.text;
    for (const each of told.steps) {
      state.steps[each.n - 1] = each;
      changes("steps", each.n);
    }
    from = told.next;
  }
  listening.run(state.run);
  changes("run");
}

/** Close the run and show the list alone. */
export function closeRun() {
  opening += 1;
  state.run = null;
  state.steps = [];
  choose(null);
  history.pushState({}, "", address());
  listening.run(null);
  for (const topic of ["opened", "run", "selection"]) changes(topic);
}

function choose(n, tab = null, line = null) {
  state.selected = n;
  state.line = line;
  const tabs = tabsOf(step(n));
  state.tab = tab !== null && tabs.includes(tab) ? tab : preferred(tabs, tab);
}

export const tabsOf = (each) => (each === null ? [] : kind(each.kind)[2]);

function preferred(tabs, asked) {
  if (asked !== null && asked === state.tab) return asked;
  const liked = step() === null ? null : settings.get(`tab.${step().kind}`);
  return tabs.includes(liked) ? liked : tabs[0] || asked;
}

/** Select a step; a move that somebody made ends following. */
export function select(n, { tab = null, line = null, manual = true } = {}) {
  if (n === null || n < 1 || n > state.steps.length) return;
  const same = state.selected === n;
  if (manual && state.follow && isLive() && n !== state.steps.length) setFollow(false);
  choose(n, tab ?? (same ? state.tab : null), line);
  moved();
  changes("selection");
}

export function selectTab(tab) {
  if (!tabsOf(step()).includes(tab)) return;
  state.tab = tab;
  state.line = null;
  settings.set(`tab.${step().kind}`, tab);
  moved();
  changes("selection");
}

export const isLive = () => state.run !== null && state.run.outcome === "running";

/** Move the selection to the newest step, where following is on. */
export function follow() {
  if (state.follow && isLive() && state.steps.length) select(state.steps.length, { manual: false });
}

/** Go where the address says. */
export async function go(hash, push = false) {
  const asked = parsed(hash);
  if (asked === null) {
    if (state.run !== null) closeRun();
    return;
  }
  const source = (history.state && history.state.source) || null;
  if (state.run !== null && state.run.run_id === asked.id && asked.n !== null && asked.n <= state.steps.length) {
    choose(asked.n, asked.tab, asked.line);
    changes("selection");
    return;
  }
  try {
    await openRun(asked.id, { ...asked, source, push });
  } catch (error) {
    failed(error);
  }
}

/** Show an error without taking away anything that is there. */
export function failed(error) {
  state.failure = error;
  changes("failure");
  announce(error.message, true);
  if (!(error instanceof Error) || error.code === undefined) throw error;
}
