// The list of runs: a table; filters; opening a trace or a file.

import { byId, fill, h, icon, say, sync, visible } from "./dom.js";
import { failed, openRun } from "./session.js";
import { announce, can, changes, get, post, putRun, send, state, subscribe } from "./store.js";
import { bytes, count, duration, outcome, OUTCOMES, plural, usd, when } from "./words.js";

let asked = 0;
const query = { q: "", status: "", configuration: "", source: "", tool: "", since: "" };
const HOURS = { "1 hour": 1, "6 hours": 6, "24 hours": 24 };
const NAMES = { memory: "this process", jaeger: "Jaeger", tempo: "Tempo", file: "files" };

export function runList() {
  subscribe("runs", show);
  for (const topic of ["run", "opened"]) subscribe(topic, mark);
  subscribe("ended", delayed(() => weigh().catch(() => {})));
  subscribe("relist", () => list().catch(failed));
  byId("run-search").addEventListener("input", delayed(() => ask("q", byId("run-search").value)));
  for (const name of ["status", "configuration", "source", "tool", "since"]) {
    byId(`runs-${name}`).addEventListener("change", (event) => ask(name, event.target.value));
  }
  byId("runs-more").addEventListener("click", () => list(state.runsTold.next).catch(failed));
  byId("open-trace").addEventListener("submit", openTrace);
  byId("open-file").addEventListener("change", openFile);
  byId("open-file-button").addEventListener("click", () => byId("open-file").click());
  byId("runs-rows").addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-run]");
    if (!row || event.ctrlKey || event.metaKey || event.target.closest("a") === null && window.getSelection().toString()) return;
    event.preventDefault();
    document.body.classList.remove("drawer");
    openRun(row.dataset.run, { source: row.dataset.source }).catch(failed);
  });
}

function delayed(work) {
  let waiting = null;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(work, 200);
  };
}

function ask(name, value) {
  query[name] = value;
  list().catch(failed);
}

/** Fill the choices with what there is. */
export function choices() {
  const { boot } = state;
  const options = (id, first, values) =>
    fill(byId(id), h("option", { value: "" }, first), values.map(([value, word]) => h("option", { value }, word)));
  options("runs-status", "any outcome", Object.entries(OUTCOMES).map(([name, [, , word, meaning]]) => [name, word === "Truncated" ? `Truncated: ${meaning}` : word]));
  options("runs-configuration", "any configuration", boot.configurations.map(({ name }) => [name, name]));
  options("runs-source", "all sources", Object.entries(NAMES));
  options("runs-tool", "any tool", boot.tools.map(({ name }) => [name, name]));
  options("runs-since", "any time", Object.entries(HOURS).map(([word, hours]) => [hours, `last ${word}`]));
  fill(byId("trace-backend"), boot.backends.map(({ name, type }) => h("option", { value: name }, `${name} (${type})`)));
  byId("open-trace").hidden = boot.backends.length === 0;
  byId("open-file-button").hidden = !can("run");
}

export async function list(cursor = null) {
  const since = query.since && String(BigInt(Date.now() - query.since * 3_600_000) * 1_000_000n);
  const mine = (asked += 1);
  const heard = (state.heard = []);
  const told = await get("api/runs", { ...query, since, cursor, limit: 100 });
  if (mine !== asked) return; // another list was asked for meanwhile
  state.runs = cursor === null ? told.items : [...state.runs, ...told.items];
  state.runsTold = { total: told.total_known, dropped: told.dropped, next: told.next, memory: told.memory };
  // What the stream told while the list was on its way is newer than the list.
  if (!isAsked()) for (const header of heard.splice(0)) putRun(header);
  changes("runs");
}

const isAsked = () => Object.values(query).some((value) => value !== "");

/** Tell anew what the memory holds: a run that ended has its final size. */
async function weigh() {
  state.runsTold.memory = (await get("api/runs", { limit: 1 })).memory;
  changes("runs");
}

function show() {
  const rows = state.runs.map((run) => [`${run.source.type}:${run.run_id}`, signature(run), () => row(run)]);
  sync(byId("runs-rows"), rows);
  const empty = byId("runs-empty");
  empty.hidden = rows.length > 0;
  say(empty, isAsked() ? "No run fits these filters." : "No runs yet. Start one with the form, or open a file.");
  byId("runs-more").hidden = state.runsTold.next === null;
  const { memory_runs: most, memory_bytes: room, memory_seconds: age } = state.boot.limits;
  const kept = state.runsTold.memory;
  const told = `${plural(Math.max(state.runsTold.total, state.runs.length), "run")}${state.runsTold.dropped ? ` · ${count(state.runsTold.dropped)} dropped to make room` : ""}`;
  say(byId("runs-told"), told);
  say(byId("runs-memory"), kept ? `memory: ${count(kept.runs)} of ${plural(most, "run")} · ${bytes(kept.bytes)} of ${bytes(room)}` : "");
  byId("runs-memory").title = `what is older than ${Math.round(age / 3600)} h goes, too`;
  mark();
}

const SHOWN = ["outcome", "rounds", "cost_usd", "duration_ms", "title", "configuration", "pinned", "findings", "missing"];

const signature = (run) => JSON.stringify(SHOWN.map((name) => run[name]));

export function nameOf(run) {
  return visible(run.title || run.configuration || run.run_id);
}

function row(run) {
  const [glyph, colour, word, meaning] = outcome(run.outcome);
  const flags = run.findings || [];
  const from = run.source.type === "memory" ? null : `from ${run.source.name}`;
  const lacks = run.source.type !== "memory" && run.missing.length ? plural(run.missing.length, "thing missing", "things missing") : null;
  const facts = [when(run.started_at), run.title && run.configuration ? run.configuration : null, plural(run.rounds ?? 0, "round"), from, lacks];
  return h("tr", { "data-run": run.run_id, "data-source": run.source.type },
    h("td", { class: `state ${colour}`, title: `${word}: ${meaning}` }, icon(glyph, run.outcome === "running" ? "pulse" : ""), h("span", { class: "unheard" }, word)),
    h("td", {},
      h("a", { href: `#run/${encodeURIComponent(run.run_id)}`, class: "run-name" }, nameOf(run)),
      h("div", { class: "facts muted" }, facts.filter(Boolean).join(" · "))),
    h("td", { class: "number" },
      h("div", {}, run.outcome === "running" ? h("run-clock", { since: run.started_at }) : duration(run.duration_ms)),
      h("div", { class: "muted" }, run.cost_usd === null ? null : usd(run.cost_usd), run.pinned ? h("span", { class: "flags", title: "pinned" }, icon("pin"), h("span", { class: "unheard" }, "pinned")) : null, flags.length ? h("span", { class: "flags warning", title: plural(flags.length, "finding") }, icon("flag"), String(flags.length)) : null)));
}

function mark() {
  for (const each of byId("runs-rows").children) {
    const mine = state.run !== null && each.dataset.run === state.run.run_id && each.dataset.source === state.run.source.type;
    each.classList.toggle("chosen", mine);
    const link = each.querySelector("a");
    if (mine) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function openTrace(event) {
  event.preventDefault();
  const trace_id = byId("trace-id").value.trim().toLowerCase();
  post("api/fetch", { backend: byId("trace-backend").value, trace_id }).then(taken).catch(failed);
}

function openFile(event) {
  const [file] = event.target.files;
  if (file) send("POST", "api/imports", file).then(taken).catch(failed);
  event.target.value = "";
}

function taken({ runs, partial, warnings }) {
  list().catch(failed);
  const said = [`${plural(runs.length, "run")} opened`, partial ? "the trace is not complete" : null, ...warnings];
  announce(said.filter(Boolean).join("; "), true);
  state.told = said.filter(Boolean);
  changes("told");
  if (runs.length) openRun(runs[0].run_id, { source: runs[0].source.type }).catch(failed);
}
