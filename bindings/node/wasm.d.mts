import type * as orbgate from "./index.js";

/** The module `orbgate.wasm` of this package: compiled, as bytes, as it is fetched, or where it is. */
export type Source = object | URL | PromiseLike<object>;

/**
 * Gives the classes of this package over WebAssembly: for browsers, edge runtimes and wherever no shared library can be loaded. The
 * module is that of this package unless another source is given: the same for as long as the program runs.
 *
 * It must come before anything else of this package is used.
 */
export function load(from?: Source): Promise<typeof orbgate>;

/**
 * Loads the module `orbgate_questions.wasm`, which answers questions such as `engine.explain(…)`. In browsers it must come before the first
 * question; Node loads the module by itself.
 */
export function loadQuestions(from?: Source): Promise<void>;
