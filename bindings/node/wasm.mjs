// The same package over WebAssembly, where shared libraries cannot be loaded; wasm.d.mts documents it.
import { read } from "#system";
import { given } from "./lib/given.js";

/** @param {any} [from] */
export async function load(from = new URL("./orbgate.wasm", import.meta.url)) {
  const source = await (from instanceof URL ? read(from) : from);
  given.module ??= source instanceof WebAssembly.Module ? source
    : await WebAssembly.compile(typeof source.arrayBuffer === "function" ? await source.arrayBuffer() : source);
  return (await import("./index.js")).default;
}
