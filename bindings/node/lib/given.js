"use strict";

/** The library that `load(…)` of "orbgate/wasm" was given, before anything else asks for it. */
const given = { module: /** @type {WebAssembly.Module | null} */ (null) };

module.exports = { given };
