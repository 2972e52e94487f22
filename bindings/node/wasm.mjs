// The same package over WebAssembly, where shared libraries cannot be loaded; wasm.d.mts documents it.
import { read } from "#system";
import { given } from "./lib/given.js";

/** @param {any} [from] */
export async function load(from = new URL("./orbgate.wasm", import.meta.url)) {
  given.module ??= await compiled(from);
  return (await import("./index.js")).default;
}

/** @param {any} [from] */
export async function loadQuestions(from = new URL("./orbgate_questions.wasm", import.meta.url)) {
  given.questions ??= await compiled(from);
}

/** @param {any} from */
async function compiled(from) {
  const source = await (from instanceof URL ? read(from) : from);
  return source instanceof WebAssembly.Module ? source
    : WebAssembly.compile(typeof source.arrayBuffer === "function" ? await source.arrayBuffer() : source);
}
