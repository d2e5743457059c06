// The run form: what a run may be made of. Every switch is remembered per configuration.

import { byId, fill, h, say, visible } from "./dom.js";
import { list } from "./runs.js";
import { failed, isLive, openRun } from "./session.js";
import { announce, can, post, runPath, settings, state, subscribe } from "./store.js";
import { count, ending, usd } from "./words.js";

const NUMBERS = { max_rounds: "integer", max_tokens: "integer", temperature: "decimal", budget_tokens: "integer", budget_usd: "decimal", budget_seconds: "decimal" };

let busy = false;

const chosen = () => state.boot.configurations.find((each) => each.name === byId("configuration").value);

export function form() {
  const { boot } = state;
  const none = boot.configurations.length === 0;
  byId("launch").hidden = !can("run");
  byId("no-configuration").hidden = !none;
  fill(byId("configuration"), boot.configurations.map((each) => h("option", { value: each.name }, each.name)));
  const last = settings.get("configuration");
  if (boot.configurations.some((each) => each.name === last)) byId("configuration").value = last;
  byId("prompt").value = settings.get("prompt", "") || "";
  byId("configuration").addEventListener("change", () => {
    settings.set("configuration", byId("configuration").value);
    parts();
  });
  byId("run-form").addEventListener("submit", (event) => {
    event.preventDefault();
    start(false);
  });
  byId("run-form").addEventListener("input", remember);
  byId("run-form").addEventListener("change", remember);
  byId("dry-run").addEventListener("click", () => start(true));
  byId("cancel").addEventListener("click", cancel);
  byId("run-form").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      start(false);
    }
  });
  byId("export-too").disabled = !boot.capture.export;
  byId("export-hint").hidden = boot.capture.export;
  byId("launch-box").open = !location.hash.startsWith("#run/");
  for (const topic of ["run", "opened"]) subscribe(topic, buttons);
  subscribe("shown", () => {
    byId("launch-box").open = false;
    const { configuration } = state.run;
    if (byId("prompt").value === "" && configuration !== null && boot.configurations.some((each) => each.name === configuration)) {
      byId("configuration").value = configuration;
      parts();
    }
  });
  if (!none) parts();
  buttons();
}

/** Show what belongs to the configuration, with the switches as they were left. */
function parts() {
  const configuration = chosen();
  const kept = settings.get(`form.${configuration.name}`, {});
  const { defaults } = configuration;
  fill(byId("configuration-told"), [configuration.description, `${configuration.provider}:${configuration.model}`].filter(Boolean).map(visible).join(" · "));
  tools(configuration, kept.tools ?? configuration.tools);
  checks("skills", state.boot.skills, configuration.skills, kept.skills ?? [], "in the first user message");
  checks("snippets", state.boot.snippets, [...configuration.snippets, ...tagged(defaults.snippet_tags)], kept.snippets ?? [], "a system message after the prompt");
  byId("system").value = kept.system ?? "";
  byId("system").placeholder = defaults.system_prompt ? `Empty: the configuration's own: ${defaults.system_prompt.slice(0, 160)}` : "Empty: no system prompt is sent";
  for (const name of Object.keys(NUMBERS)) {
    byId(name).value = kept[name] ?? "";
    const own = name.startsWith("budget_") ? defaults.budget[name.slice(7)] : defaults[name];
    byId(name).placeholder = own === null || own === undefined ? "not set" : String(own);
  }
  byId("max_rounds").max = state.boot.limits.max_rounds;
  byId("thinking").value = kept.thinking ?? "";
  byId("capture-raw").checked = kept.capture_raw ?? false;
  byId("stream").checked = kept.stream ?? false;
  byId("export-too").checked = state.boot.capture.export && (kept.export ?? false);
  summary();
}

const tagged = (tags) => state.boot.snippets.filter((each) => each.tags.some((tag) => tags.includes(tag))).map((each) => each.id);

function tools(configuration, ticked) {
  const groups = new Map();
  for (const tool of state.boot.tools) {
    const group = tool.group || "other";
    groups.set(group, [...(groups.get(group) || []), tool]);
  }
  const told = [...groups].map(([group, members]) => h("fieldset", { class: "group" },
    h("legend", {}, h("label", { class: "check" }, h("input", { type: "checkbox", "data-group": group, oninput: (event) => {
      for (const box of boxes(event.target)) if (!box.disabled) box.checked = event.target.checked;
    } }), visible(group))),
    members.map((tool) => h("label", { class: "check", title: tool.description }, h("input", { type: "checkbox", name: "tool", value: tool.name, checked: tool.enabled && ticked.includes(tool.name), disabled: !tool.enabled }), h("span", {}, visible(tool.name), tool.requires_admin ? h("span", { class: "muted" }, " admins") : null, tool.enabled ? null : h("span", { class: "muted" }, " off"))))));
  fill(byId("tools"), told.length ? told : h("p", { class: "muted" }, "The catalogue has no tools."));
  states();
}

const boxes = (group) => [...group.closest("fieldset").querySelectorAll("[name=tool]")];

/** A group's box is ticked, empty, or neither. */
function states() {
  for (const group of byId("tools").querySelectorAll("[data-group]")) {
    const all = boxes(group);
    const ticked = all.filter((box) => box.checked).length;
    group.checked = ticked > 0 && ticked === all.length;
    group.indeterminate = ticked > 0 && ticked < all.length;
  }
}

function checks(id, all, own, ticked, hint) {
  const name = id.slice(0, -1);
  const rows = all.map((each) => {
    const isOwn = own.includes(each.id) || own.includes(each.id.split("/").pop());
    const usable = each.enabled !== false && each.verified !== false;
    const told = isOwn ? "by the configuration" : each.enabled === false ? "disabled" : each.verified === false ? "checksum does not match" : null;
    return h("label", { class: "check", title: each.description || hint }, h("input", { type: "checkbox", name, value: each.id, checked: isOwn || (usable && ticked.includes(each.id)), disabled: isOwn || !usable, "data-own": isOwn }), h("span", {}, visible(each.name || each.id), told ? h("span", { class: "muted" }, ` ${told}`) : null));
  });
  fill(byId(id), rows.length ? rows : h("p", { class: "muted" }, `The catalogue has no ${id}.`));
}

const ticked = (name) => [...byId("run-form").querySelectorAll(`[name=${name}]:checked`)].filter((box) => !box.hasAttribute("data-own")).map((box) => box.value);

function values() {
  const found = { tools: ticked("tool"), skills: ticked("skill"), snippets: ticked("snippet"), system: byId("system").value, thinking: byId("thinking").value, capture_raw: byId("capture-raw").checked, stream: byId("stream").checked, export: byId("export-too").checked };
  for (const name of Object.keys(NUMBERS)) found[name] = byId(name).value;
  return found;
}

function remember() {
  states();
  settings.set("prompt", byId("prompt").value);
  if (chosen()) settings.set(`form.${chosen().name}`, values());
  summary();
}

/** The request: the list of tools is always sent, so that nothing ticked means nothing. */
export function asked(dry) {
  const given = values();
  const value = { configuration: byId("configuration").value, prompt: byId("prompt").value, tools: given.tools, skills: given.skills, snippets: given.snippets, capture_raw: given.capture_raw, stream: given.stream, export: given.export && !dry, dry_run: dry, idempotency_key: crypto.getRandomValues(new Uint32Array(4)).join("-") };
  if (given.system !== "") value.system = given.system;
  if (given.thinking !== "") value.thinking = given.thinking;
  const budget = {};
  for (const name of Object.keys(NUMBERS)) {
    if (given[name] === "") continue;
    if (name.startsWith("budget_")) budget[name.slice(7)] = Number(given[name]);
    else value[name] = Number(given[name]);
  }
  if (Object.keys(budget).length) value.budget = budget;
  return value;
}

function summary() {
  const prompt = byId("prompt").value.trim();
  const configuration = chosen();
  if (configuration === undefined) return;
  const size = byId("prompt").value.length + (byId("system").value || configuration.defaults.system_prompt || "").length;
  const most = byId("budget_usd").value || configuration.defaults.budget.usd;
  fill(byId("launch-told"), h("strong", {}, visible(configuration.name)), prompt ? h("span", { class: "muted" }, ` · “${visible(prompt.slice(0, 120))}${prompt.length > 120 ? "…" : ""}”`) : null);
  say(byId("estimate"), `≈ ${count(Math.round(size / 4))} tokens of prompt · ${most ? `at most ${usd(Number(most))}` : "no cost limit"} · ${count(ticked("tool").length)} of ${count(state.boot.tools.length)} tools`);
}

function buttons() {
  const live = isLive();
  byId("cancel").disabled = !live;
  byId("cancel").hidden = !can("run");
  byId("run-button").disabled = busy;
  byId("dry-run").disabled = busy;
}

async function start(dry) {
  if (busy) return;
  say(byId("form-error"), "");
  busy = true;
  buttons();
  try {
    const { runs } = await post("api/runs", asked(dry));
    announce(dry ? "Dry run: nothing is sent" : "Run started", true);
    const isOpen = await openRun(runs[0].run_id, { started: !dry });
    if (isOpen && !isLive()) announce(ending(state.run.outcome), true);
    list().catch(failed);
  } catch (error) {
    say(byId("form-error"), [error.message, error.hint].filter(Boolean).join(". "));
    announce(error.message, true);
    const left = error.answer && error.answer.runs;
    if (left && left.length) {
      await openRun(left[0].run_id).catch(failed);
      list().catch(failed);
    }
  } finally {
    busy = false;
    buttons();
  }
}

function cancel() {
  post(runPath(state.run, "/cancel"), {}).then(() => announce("The run is being cancelled", true)).catch(failed);
}
