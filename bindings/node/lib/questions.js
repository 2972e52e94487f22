"use strict";
// Questions about a policy. The C library answers them itself. Over WebAssembly a second module does, compiled at the first question:
// most programs ask none.
const { openQuestions } = require("#system");
const { CODES } = require("./layout.js");
const { functions, hasFiles, text } = require("./library.js");
const { encoder } = require("./text.js");
const { OK, OrbgateError, PolicyError, failure, policyError } = require("./errors.js");

/**
 * The answer to a question.
 * @param {object} engine
 * @param {number} pointer of the engine
 * @param {import("../index.js").Text | null} source its policy, `null` for the built-in one
 * @param {string} question
 * @param {string} given
 */
function answer(engine, pointer, source, question, given) {
  return read(hasFiles ? native(pointer, question, given) : fromModule(engine, source, question, given));
}

/**
 * @param {number} pointer
 * @param {string} question
 * @param {string} given
 */
function native(pointer, question, given) {
  const [name, json] = [encoder.encode(question), encoder.encode(given)];
  const [made, str, error] = [[0], {}, [0]];
  const status = functions.ask(pointer, name, name.length, json, json.length, CODES.ANSWER_JSON, made, str, error);
  if (status !== OK) {
    const why = policyError(status, /** @type {number} */ (error[0]));
    throw why.code === "invalid_policy" ? why : new OrbgateError(why.code, why.message);
  }
  try {
    return text(/** @type {any} */ (str)) ?? "";
  } finally {
    functions.answerFree(made[0]);
  }
}

/**
 * An instance of the module, and the numbers of its engines. It takes one call at a time, as a thread does.
 * @typedef {{ exports: any, engines: WeakMap<object, number> }} Instance
 */

/** @type {Instance | null} */
let instance = null;

const gone = new FinalizationRegistry((/** @type {{ of: Instance, number: number }} */ { of, number }) => {
  if (of === instance) {
    of.exports.orbgate_wasm_unload(number);
  }
});

/**
 * @param {object} engine
 * @param {import("../index.js").Text | null} source
 * @param {string} question
 * @param {string} given
 */
function fromModule(engine, source, question, given) {
  const of = (instance ??= { exports: new WebAssembly.Instance(openQuestions(), {}).exports, engines: new WeakMap() });
  try {
    let number = of.engines.get(engine);
    if (number === undefined) {
      const load = source === null ? "external" : "load";
      number = /** @type {number} */ (JSON.parse(call(of, load, source ?? "", [])).engine);
      of.engines.set(engine, number);
      gone.register(engine, { of, number }, engine);
    }
    return call(of, "ask", question + given, [number, encoder.encode(question).length]);
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) {
      // It trapped, so its state is unknown.
      instance = null;
      throw failure(CODES.STATUS_PANIC, "cannot answer");
    }
    throw error;
  }
}

/**
 * @param {Instance} of
 * @param {string} name
 * @param {import("../index.js").Text} input
 * @param {number[]} values
 */
function call({ exports }, name, input, values) {
  const bytes = typeof input === "string" ? encoder.encode(input) : input;
  const at = exports.orbgate_wasm_input(bytes.length) >>> 0;
  if (at === 0) {
    throw new RangeError(`the module cannot allocate ${bytes.length} bytes`);
  }
  // The memory may have grown, and then an older view of it is empty.
  new Uint8Array(exports.memory.buffer).set(bytes, at);
  const status = exports[`orbgate_wasm_${name}`](...values);
  const [start, length] = [exports.orbgate_wasm_answer() >>> 0, exports.orbgate_wasm_answer_len() >>> 0];
  const json = new TextDecoder().decode(new Uint8Array(exports.memory.buffer, start, length));
  if (status === OK) {
    return json;
  }
  const { status: code, message, diagnostics } = JSON.parse(json);
  if (code !== "invalid_policy") {
    throw new OrbgateError(code, message);
  }
  const list = diagnostics.map((/** @type {any} */ diagnostic) => Object.freeze({ ...diagnostic.location, message: diagnostic.message }));
  throw new PolicyError(code, message, undefined, { line: list[0].line, column: list[0].column, path: null, diagnostics: list });
}

/**
 * Frees the engine of the module.
 * @param {object} engine
 */
function forget(engine) {
  const number = instance?.engines.get(engine);
  if (instance && number !== undefined) {
    gone.unregister(engine);
    instance.engines.delete(engine);
    instance.exports.orbgate_wasm_unload(number);
  }
}

/**
 * Reads an answer. Amounts reach 2^63 - 1, which a number can't hold, so they are bigints, as in a decision.
 * @param {string} json
 */
function read(json) {
  // Inside a string of JSON each quote has a backslash, so only members match.
  const exact = /"amount":\d{16}/.test(json) ? json.replace(/"amount":(\d+)/g, '"amount":"$1"') : json;
  const answer = JSON.parse(exact);
  makeExact(answer);
  return answer;
}

/** @param {any} value an object or a list */
function makeExact(value) {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "object" && item !== null) {
        makeExact(item);
      }
    }
    return;
  }
  for (const key in value) {
    const item = value[key];
    if (key === "amount") {
      value[key] = item === null ? null : BigInt(item);
    } else if (typeof item === "object" && item !== null) {
      makeExact(item);
    }
  }
}

module.exports = { answer, forget, read };
