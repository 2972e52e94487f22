"use strict";

/** The modules that `load(…)` and `loadQuestions(…)` of "orbgate/wasm" were given, before anything else asks for them. */
const given = {
  module: /** @type {WebAssembly.Module | null} */ (null),
  questions: /** @type {WebAssembly.Module | null} */ (null),
};

module.exports = { given };
