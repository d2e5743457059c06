// The strip over a run: the five questions answered without a click. And its findings.

import { byId, h, icon, sync, visible } from "./dom.js";
import { nameOf } from "./runs.js";
import { select } from "./session.js";
import { state, subscribe } from "./store.js";
import { bytes, count, DASH, duration, outcome, plural, reason, SEVERITIES, usd, why } from "./words.js";

export function strip() {
  subscribe("run", show);
  subscribe("steps", () => state.run !== null && show());
}

function show() {
  const { run } = state;
  byId("run").hidden = run === null;
  byId("welcome").hidden = run !== null;
  if (run === null) return;
  document.title = `${nameOf(run)} · loopspan`;
  sync(byId("run-name"), [["name", nameOf(run), () => h("span", {}, nameOf(run))]]);
  sync(byId("strip"), figures(run).map(([key, signature, make]) => [key, JSON.stringify(signature), make]));
  sync(byId("findings"), (run.findings || []).map((found, at) => [`${found.id} ${at}`, JSON.stringify(found), () => finding(found)]));
  sync(byId("badges"), badges(run));
}

function figures(run) {
  const served = servedBy(run);
  const live = run.outcome === "running";
  const { usage } = run;
  const far = [run.outcome, run.missing, state.steps.filter((each) => each.kind === "chat" && each.state !== "open").length]; // why something is unknown depends on it
  return [
    ["outcome", run.outcome, () => verdict(run)],
    ["rounds", [run.rounds, run.max_rounds], () => figure("Rounds", ratio(run.rounds, run.max_rounds))],
    ["tools", run.tool_calls, () => figure("Tool calls", count(run.tool_calls))],
    ["in", [usage, far], () => figure("Tokens in", atLeast(run, "input_tokens"), inside([["cached", usage.cache_read_input_tokens], ["cache write", usage.cache_write_input_tokens]]))],
    ["out", [usage, far], () => figure("Tokens out", atLeast(run, "output_tokens"), inside([["reasoning", usage.reasoning_output_tokens]]))],
    ["cost", [run.cost_usd, run.cost_source, far], () => cost(run)],
    ["elapsed", [run.duration_ms, run.time, live], () => elapsed(run, live)],
    ["model", [run.model, served], () => models(run, served)],
  ];
}

function figure(name, value, more = null, title = null) {
  return h("div", { class: "figure", title }, h("dt", {}, name), h("dd", {}, h("span", { class: "value" }, value), more ? h("span", { class: "more muted" }, more) : null));
}

function verdict(run) {
  const [glyph, colour, word, meaning] = outcome(run.outcome);
  return h("div", { class: `figure verdict ${colour}` },
    h("dt", { class: "unheard" }, "Outcome"),
    h("dd", {}, h("span", { class: "value" }, icon(glyph, run.outcome === "running" ? "pulse" : ""), " ", word), h("span", { class: "more" }, meaning)));
}

function ratio(n, most) {
  return most === null || most === undefined ? count(n) : `${count(n)} / ${count(most)}`;
}

/** A total; where a call did not report its part, it is a lower bound and says so. */
function atLeast(run, name) {
  const known = run.usage[name];
  const unsaid = state.steps.filter((each) => each.kind === "chat" && each.state !== "open" && each.usage[name] === null).length;
  if (known === null || known === undefined) {
    const told = run.outcome === "running" ? "no answer yet" : run.outcome === "dry_run" ? "nothing was sent" : reason(run, `usage.${name}`) || why("not_reported");
    return h("span", { title: told }, DASH, h("span", { class: "unheard" }, ` unknown: ${told}`));
  }
  if (unsaid === 0) return count(known);
  return h("span", { title: `${plural(unsaid, "call")} did not report it` }, `≥ ${count(known)}`);
}

const inside = (pairs) => pairs.filter(([, n]) => n).map(([word, n]) => `${word} ${count(n)}`).join(" · ");

function cost(run) {
  if (run.cost_usd === null) {
    if (run.outcome === "dry_run") return figure("Cost", DASH, "nothing was sent");
    if (run.outcome === "running") return figure("Cost", DASH, "not known yet");
    const known = state.steps.filter((each) => each.kind === "chat" && each.cost_usd !== null);
    const told = reason(run, "cost_usd") || "no price";
    const sum = known.reduce((total, each) => total + each.cost_usd, 0);
    return figure("Cost", known.length ? `≥ ${usd(sum)}` : DASH, `unknown: ${told}`);
  }
  const words = { provider: "reported by the provider", table: "from the price table" };
  return figure("Cost", usd(run.cost_usd), words[run.cost_source] || null, `$${run.cost_usd}`);
}

function elapsed(run, live) {
  const { model_ms, tools_ms, other_ms } = run.time;
  if (live) return figure("Elapsed", h("run-clock", { since: run.started_at }), null);
  const parts = [`model ${duration(model_ms)} `, `+ tools ${duration(tools_ms)} `, `+ other ${duration(other_ms)}`].map((each) => h("span", { class: "whole" }, each));
  const share = h("span", { class: "share", "aria-hidden": "true" });
  for (const [name, ms] of [["model", model_ms], ["tools", tools_ms], ["other", other_ms]]) {
    const bar = h("span", { class: `share-${name}` });
    bar.style.flexGrow = String(Math.max(ms || 0, 0));
    share.append(bar);
  }
  return figure("Elapsed", duration(run.duration_ms), [parts, share], `${run.duration_ms} ms`);
}

function servedBy() {
  return [...new Set(state.steps.filter((each) => each.kind === "chat" && each.response_model).map((each) => each.response_model))];
}

function models(run, served) {
  const asked = run.model || DASH;
  const others = served.filter((name) => name !== run.model);
  const more = others.length ? h("span", { class: "warning" }, `served by ${others.map(visible).join(", ")}`) : served.length ? "served as asked" : null;
  return figure("Model", visible(asked), more);
}

function finding(found) {
  const [glyph, colour] = SEVERITIES[found.severity] || SEVERITIES.info;
  const links = found.steps.slice(0, 8).map((n) => {
    const at = state.steps[n - 1];
    const tab = at && at.kind === "tool" && found.id !== "bad_call" ? "result" : null;
    return h("button", { class: "small quiet link", onclick: () => select(n, { tab }), "data-focus": `finding-${n}` }, at && at.round ? `round ${at.round}, step ${n}` : `step ${n}`);
  });
  return h("li", {}, h("span", { class: colour }, icon(glyph)), h("span", { class: "finding-text" }, h("strong", {}, visible(found.title)), found.hint ? h("span", { class: "muted" }, ` ${visible(found.hint)}`) : null), h("span", { class: "links" }, links));
}

/** What this source lacks, and where the run is from. */
function badges(run) {
  const found = [];
  const from = { memory: "from this process", file: "from a file", jaeger: "from Jaeger", tempo: "from Tempo" }[run.source.type] || run.source.type;
  found.push(["source", from, () => h("span", { class: "badge" }, from)]);
  const { missing = [] } = run;
  if (missing.length) {
    const signature = JSON.stringify(missing);
    found.push(["missing", signature, () => h("details", { class: "badge-more" },
      h("summary", { class: "badge warning" }, plural(missing.length, "thing missing", "things missing")),
      h("ul", {}, missing.map((each) => h("li", {}, h("code", {}, each.field), " ", visible(each.detail ? `${why(each.why)}: ${each.detail}` : why(each.why))))))]);
  }
  const cuts = state.steps.flatMap((each) => each.cut || []);
  if (cuts.length) {
    const left = cuts.reduce((sum, cut) => sum + (cut.total - cut.kept), 0);
    found.push(["cut", String(left), () => h("span", { class: "badge warning" }, `${plural(cuts.length, "value")} cut, ${bytes(left)} left out`)]);
  }
  return found;
}
