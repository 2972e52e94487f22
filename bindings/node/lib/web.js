"use strict";
// Used instead of `system.js` where there is no Node: the library is a module that was given, and there are no files.
const { given } = require("./given.js");

/** @returns {ReturnType<typeof import("./system.js").open>} */
function open() {
  if (given.module === null) {
    throw new Error('there are no shared libraries here: `await load()` of "orbgate/wasm" gives the classes of this package');
  }
  const from = /** @type {any} */ (require("./wasm.js"));
  return { from, file: "orbgate.wasm", foreign: from.load(given.module) };
}

/** @returns {WebAssembly.Module} */
function openQuestions() {
  if (given.questions === null) {
    throw new Error('questions need a second module: `await loadQuestions()` of "orbgate/wasm" comes before the first one');
  }
  return given.questions;
}

/** @param {URL} url */
const read = (url) => fetch(url);

const fetcher = () => fetch;

/** @returns {Promise<never>} */
const fetchOver = () => Promise.reject(new TypeError("there are no Unix sockets here"));

/** @param {URL} url */
const fileURLToPath = (url) => url.href;

/**
 * @param {string | Uint8Array} _file
 * @param {(why: string, cause?: unknown) => never} fail
 * @returns {Uint8Array}
 */
const readRegular = (_file, fail) => fail("there are no files here: give its text to Engine.fromYaml(…)");

/**
 * Some hosts without Node have its environment.
 * @param {boolean} isFile
 * @param {string} name
 * @returns {string}
 */
function readSecret(isFile, name) {
  const secret = isFile ? undefined : /** @type {any} */ (globalThis).process?.env?.[name];
  if (typeof secret !== "string") {
    throw new Error(isFile ? "there are no files here" : "the variable is not set");
  }
  return secret;
}

/** @returns {unknown} */
const unreadable = () => undefined;

/** The frameworks that publish what they do are those of Node. */
const subscribe = (/** @type {string} */ _channel, /** @type {(message: any) => void} */ _hear) => {};

module.exports = { open, openQuestions, read, fetchOver, fileURLToPath, readRegular, readSecret, subscribe, unreadable };
