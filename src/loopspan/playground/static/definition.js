// A tool's definition: its description and its parameters as a table, required ones marked.

import { whole } from "./api.js";
import { broken, skeleton, textBody, whenSeen } from "./body.js";
import { fill, h, visible } from "./dom.js";
import { field, listOf, read, written } from "./jsontree.js";

/** Show the definition that `ref` names. */
export function definition(ref, run) {
  const box = h("div", { class: "definition" });
  skeleton(box);
  return whenSeen(box, async () => {
    try {
      const text = await whole(ref, run);
      fill(box, ...drawn(read(text)), h("details", { class: "fold" }, h("summary", {}, "As JSON"), textBody(text, run, { role: "json", label: "Definition" })));
    } catch (error) {
      broken(box, error);
    }
  });
}

function drawn(value) {
  const description = field(value, "description");
  const rows = parameters(field(value, "parameters"));
  return [
    h("p", {}, typeof description === "string" && description ? visible(description) : h("span", { class: "muted" }, "No description.")),
    rows.length ? table(rows) : h("p", { class: "muted" }, "Takes no parameters."),
  ];
}

function parameters(schema, prefix = "", depth = 0) {
  const properties = field(schema, "properties");
  if (properties === undefined || depth > 3) return [];
  const required = new Set(listOf(field(schema, "required")));
  return properties.items.flatMap(([name, each]) => [
    { name: prefix + name, required: required.has(name), type: typeOf(each), description: field(each, "description") },
    ...parameters(each, `${prefix}${name}.`, depth + 1),
    ...parameters(field(each, "items"), `${prefix}${name}[].`, depth + 1),
  ]);
}

function typeOf(schema) {
  const type = field(schema, "type");
  const name = typeof type === "string" ? type : listOf(type).join(" or ");
  const values = listOf(field(schema, "enum")).map((each) => written(each));
  const either = listOf(field(schema, "anyOf")).map(typeOf).join(" or ");
  return [name || either || "any", values.length ? `: ${values.join(", ")}` : ""].join("");
}

function table(rows) {
  return h("table", { class: "parameters" },
    h("thead", {}, h("tr", {}, ["Parameter", "Type", "Description"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", {},
      h("th", { scope: "row" }, h("code", {}, visible(row.name)), row.required ? h("span", { class: "required" }, " required") : null),
      h("td", {}, visible(row.type)),
      h("td", {}, typeof row.description === "string" ? visible(row.description) : "")))));
}
