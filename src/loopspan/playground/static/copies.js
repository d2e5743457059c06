// What can be copied of a step: the server's own bytes, never written anew by the page.

import { get, path, runPath, sourceOf, text, whole } from "./api.js";
import { address } from "./session.js";
import { field, listOf, read, written } from "./jsontree.js";
import { kind } from "./words.js";

/** Rows of the menu: id, name, hint, and a function that gives the text. */
export function copiesOf(step, run) {
  const rows = [
    ["text", "Text", "what this step says", () => textOf(step, run)],
    ["json", "JSON", "this step of the exact run", () => jsonOf(step, run)],
    ["markdown", "Markdown", "with fences, to paste", () => markdownOf(step, run)],
  ];
  if (step.kind === "request" || step.kind === "chat") {
    rows.push(["curl", "curl", "the request as a command", () => snippet(step, run, "curl")]);
    rows.push(["httpx", "httpx", "the request as Python", () => snippet(step, run, "httpx")]);
  }
  rows.push(["link", "Link", "to this step and tab", async () => new URL(address(), location.href).href]);
  rows.push(["run-text", "Whole run as text", "what loopspan show prints", () => text(runPath(run, ".txt"), { source: sourceOf(run) })]);
  rows.push(["run-markdown", "Whole run as Markdown", "", () => text(runPath(run, ".md"), { source: sourceOf(run) })]);
  return rows;
}

async function snippet(step, run, language) {
  const told = await get(runPath(run, `/steps/${step.n}/snippet`), { language, source: sourceOf(run) });
  const notes = [told.environment.length ? `set ${told.environment.join(", ")} first` : null, told.rebuilt ? "the body was rebuilt, as no raw body was kept" : null, told.omitted.length ? `left out: ${told.omitted.join(", ")}` : null];
  return { text: told.text, note: notes.filter(Boolean).join("; ") };
}

/** The bodies of a step, with a name for each. */
async function bodies(step, run) {
  const of = async (name, ref) => (ref ? [name, await whole(ref, run)] : null);
  switch (step.kind) {
    case "request": {
      const added = step.delta ? [...step.delta.edit, ...step.delta.add].sort((a, b) => a.at - b.at) : [];
      return Promise.all(added.map(async ({ message }) => [message.role, carried(await whole(message, run))]));
    }
    case "chat": {
      const found = [await of("thinking", step.thinking), step.content ? ["assistant", carried(await whole(step.content, run))] : null];
      return found.filter(Boolean);
    }
    case "tool":
      return (await Promise.all([of("arguments", step.arguments), of("result", step.result)])).filter(Boolean);
    case "assembled":
      return Promise.all((step.messages || []).map(async (message) => [message.role, carried(await whole(message, run))]));
    default:
      return step.error ? [["error", `${step.error.type}: ${step.error.message ?? ""}`]] : [];
  }
}

/** The texts of a message's parts, as the model reads them. */
function carried(json) {
  const texts = listOf(field(read(json), "parts")).map((part) => {
    const plain = field(part, "content") ?? field(part, "response") ?? field(part, "result");
    if (plain !== undefined) return typeof plain === "string" ? plain : written(plain);
    const name = field(part, "name");
    return name === undefined ? written(part) : `${name}(${argumentsOf(part)})`;
  });
  return texts.join("\n");
}

function argumentsOf(part) {
  const given = field(part, "arguments");
  return given === undefined ? "" : typeof given === "string" ? given : written(given);
}

async function textOf(step, run) {
  const found = await bodies(step, run);
  return step.kind === "tool" && step.result ? found[found.length - 1][1] : found.map(([, body]) => body).join("\n\n");
}

async function markdownOf(step, run) {
  const found = await bodies(step, run);
  const head = `## ${step.round === null ? "" : `Round ${step.round}: `}${step.kind === "tool" ? step.name : kind(step.kind)[1]}`;
  return `${[head, ...found.map(([name, body]) => `**${name}**\n\n${fenced(body)}`)].join("\n\n")}\n`;
}

/** A fence is longer than any run of backticks inside. */
export function fenced(body) {
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map((found) => found[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${body}\n${fence}`;
}

/** The step as the exact run has it: cut out of the server's own text. */
async function jsonOf(step, run) {
  const ndjson = await text(path(runPath(run, "/export"), { format: "run", redact: 0, source: sourceOf(run) }));
  const steps = listOf(field(read(ndjson), "steps"));
  const wanted = steps.find((each) => field(each, "kind") === step.kind && field(each, "span_id") === step.span_id);
  return written(wanted ?? read(JSON.stringify(step)));
}
