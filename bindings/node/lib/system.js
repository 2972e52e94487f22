"use strict";
// What Node has and browsers do not: shared libraries and files.
const { subscribe } = require("node:diagnostics_channel");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { Readable } = require("node:stream");
const { fileURLToPath } = require("node:url");
const { given } = require("./given.js");
const { CODES } = require("./layout.js");

/**
 * What the system's loader finds once the library is installed.
 * @type {Partial<Record<NodeJS.Platform, string>>}
 */
const FILES = { win32: "orbgate.dll", darwin: "liborbgate.1.dylib" };

/** The packages of this platform; npm installs the one for the C library of this system. */
const PACKAGES = ["gnu", "musl"].map((libc) => `@orbgate/${process.platform}-${process.arch}-${libc}`);

/** The library for every other platform. */
const MODULE = path.join(__dirname, "..", "orbgate.wasm");

/** What answers questions next to it. */
const QUESTIONS = path.join(__dirname, "..", "orbgate_questions.wasm");

/** The libraries of those packages that are installed. */
function packaged() {
  return PACKAGES.flatMap((name) => {
    try {
      return [require.resolve(`${name}/liborbgate.so`)];
    } catch {
      return [];
    }
  });
}

/** Takes the file that is named; or else the first that loads of these: the packages' files, the system's library, the module. */
function open() {
  if (given.module !== null) {
    return asModule("orbgate.wasm", given.module);
  }
  const named = process.env.ORBGATE_LIBRARY;
  const files = named ? [named] : [...packaged(), FILES[process.platform] || "liborbgate.so.1", MODULE];
  const causes = [];
  for (const file of files) {
    try {
      return file.endsWith(".wasm") ? asModule(file, new WebAssembly.Module(fs.readFileSync(file))) : shared(file);
    } catch (cause) {
      causes.push(cause);
    }
  }
  const tried = files.map((file) => `\`${file}\``).join(" or ");
  const advice = named
    ? "which the variable ORBGATE_LIBRARY names"
    : `no package ${PACKAGES.join(" or ")} is installed, which npm leaves out with --omit=optional; install it with `
      + "`cargo xtask install --prefix /usr/local` (and `ldconfig`), or give its path in the variable ORBGATE_LIBRARY";
  const message = `cannot load the orbgate library ${tried}${named ? "," : ":"} ${advice}`;
  throw new Error(message, { cause: causes.length === 1 ? causes[0] : new AggregateError(causes) });
}

/** @param {string} file */
function shared(file) {
  const from = require("./koffi.js");
  return { from, file, foreign: from.load(file) };
}

/**
 * @param {string} file
 * @param {WebAssembly.Module} module
 * @returns {ReturnType<typeof shared>}
 */
function asModule(file, module) {
  const from = /** @type {any} */ (require("./wasm.js"));
  return { from, file, foreign: from.load(module) };
}

/** The module that answers questions. */
const openQuestions = () => (given.questions ??= new WebAssembly.Module(fs.readFileSync(QUESTIONS)));

/** @param {URL} url */
const read = (url) => fs.promises.readFile(url);

/** @param {string | Uint8Array} file */
const pathOf = (file) => (typeof file === "string" ? file : Buffer.from(file));

/**
 * Why a file cannot be read, in the words of Node.
 * @param {string | Uint8Array} file
 */
function unreadable(file) {
  try {
    fs.accessSync(pathOf(file), fs.constants.R_OK);
  } catch (error) {
    return error;
  }
  return undefined;
}

/**
 * Reads a policy. Only a regular file is read: a pipe would make its reader wait for ever, opening it too, and a device may have no end.
 * @param {string | Uint8Array} file
 * @param {(why: string, cause?: unknown) => never} fail
 * @returns {Uint8Array}
 */
function readRegular(file, fail) {
  let bytes = null;
  try {
    bytes = regularBytes(file);
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error), error);
  }
  return bytes ?? fail("not a regular file");
}

/** @param {string | Uint8Array} file */
function regularBytes(file) {
  const opened = fs.openSync(pathOf(file), fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
  try {
    return fs.fstatSync(opened).isFile() ? readOpened(opened) : null;
  } finally {
    fs.closeSync(opened);
  }
}

/**
 * Reads a secret; throws what says why it can't.
 * @param {boolean} isFile or else a variable of the environment
 * @param {string} name
 * @returns {string | Uint8Array}
 */
function readSecret(isFile, name) {
  const secret = isFile ? regularBytes(name) : process.env[name];
  if (secret === null || secret === undefined) {
    throw new Error(isFile ? "not a regular file" : "the variable is not set");
  }
  return secret;
}

/**
 * Like `fetch`, over a Unix socket.
 * @param {string} socketPath
 * @param {string} path
 * @param {{ method: string, headers: Record<string, string>, body: string, signal: AbortSignal }} options
 * @returns {Promise<{ status: number, body: ReadableStream<Uint8Array> }>}
 */
function fetchOver(socketPath, path, { body, ...options }) {
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, path, ...options }, (response) => {
      resolve({ status: response.statusCode ?? 0, body: /** @type {any} */ (Readable.toWeb(response)) });
    });
    request.on("error", reject).end(body);
  });
}

/**
 * What fetches keys: through the proxy of the environment, if there is one. This machine is reached without.
 * @returns {import("../gate.js").FetchKeys}
 */
function fetcher() {
  const { https_proxy: lower, HTTPS_PROXY: upper, no_proxy: not = process.env.NO_PROXY } = process.env;
  if (!lower && !upper) {
    return fetch;
  }
  const { EnvHttpProxyAgent, fetch: through } = require("undici");
  const url = String(lower || upper);
  const httpsProxy = url.includes("://") ? url : `http://${url}`;
  if (!URL.canParse(httpsProxy)) {
    // The error of `URL` has the text, which can have a password.
    throw new TypeError("HTTPS_PROXY is not a URL");
  }
  // Only this machine is reached without TLS, and without a proxy.
  const dispatcher = new EnvHttpProxyAgent({ httpProxy: "", httpsProxy, noProxy: [not, "localhost", "127.0.0.1", "[::1]"].filter(Boolean).join(",") });
  return /** @type {any} */ ((/** @type {string} */ url, /** @type {object} */ options) => through(url, { ...options, dispatcher }));
}

/** @param {number} opened */
function readOpened(opened) {
  // One byte too many is read, so that the library says what is wrong.
  const bytes = Buffer.alloc(CODES.MAX_POLICY_BYTES + 1);
  let end = 0;
  for (let read = -1; read !== 0 && end < bytes.length; end += read) {
    read = fs.readSync(opened, bytes, end, bytes.length - end, null);
  }
  return bytes.subarray(0, end);
}

module.exports = { open, openQuestions, read, fetcher, fetchOver, fileURLToPath, readRegular, readSecret, unreadable, subscribe };
