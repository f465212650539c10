// Ask a component that jco has turned into a module, and print its answers. Questions and answers as in `component.py`.
//
// Usage: component.mjs MODULE < questions > answers

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A JSON value as the module wants it: members in camel case, `undefined` for a `none`. */
function toComponent(value) {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map(toComponent);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), toComponent(member)]));
}

/** A value that the module gave, as JSON. */
function fromComponent(value) {
  if (value === undefined || value === null) return null;
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(fromComponent);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [kebab(name), fromComponent(member)]));
}

const component = await import(pathToFileURL(process.argv[2]));

// `node:readline` also ends a line at U+2028, which may stand in a JSON text.
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const question = JSON.parse(line);
  const ask = component[camel(question.interface)][camel(question.function)];
  let answer;
  try {
    answer = fromComponent(ask(...question.arguments.map(toComponent)));
  } catch (error) {
    // jco throws the error of a `result`; anything else is no answer.
    if (error.payload?.tag === undefined) throw error;
    answer = { err: { [error.payload.tag]: error.payload.val } };
  }
  console.log(JSON.stringify(answer));
}
