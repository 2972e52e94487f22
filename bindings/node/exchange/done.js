"use strict";
// What the service does, as the header `x-do` says: see policy/cases/gate.
const { Readable } = require("node:stream");
const { setTimeout: pause } = require("node:timers/promises");
const { findAllowed } = require("orbgate/gate");

/**
 * @param {string} told
 * @param {(more: object) => string} saw
 * @param {object} request
 * @param {() => Promise<string>} body
 * @returns {Promise<{ status: number, headers?: Record<string, string>, text?: string, stream?: Readable }>}
 */
async function done(told, saw, request, body) {
  if (told === "throw") {
    saw({});
    throw new Error("as it was told");
  }
  if (told.startsWith("state ")) {
    const [first = "", then = ""] = told.split(", ");
    const stated = findAllowed(request)?.stateOrbs(Number(first.slice(6))) ?? false;
    return done(then, (more) => saw({ stated, ...more }), request, body);
  }
  if (told === "echo") {
    return { status: 200, text: saw({ body: await body() }) };
  }
  const text = saw({});
  if (told === "respond") { // As the arguments of a call at an MCP endpoint describe it.
    const { status, headers, ...row } = JSON.parse(await body()).params.arguments;
    return { status, headers: Object.fromEntries(headers.map((/** @type {string} */ line) => line.split(": "))), stream: Readable.from(parts(row)) };
  }
  if (told.includes("stream")) {
    return { status: 200, stream: Readable.from(pieces(text, told)) };
  }
  return { status: Number(told) || 200, text: told === "large" ? text.repeat(20_000) : text };
}

/**
 * @param {string} text
 * @param {string} told
 */
async function* pieces(text, told) {
  if (told === "stream that fails at once") {
    throw new Error("as it was told");
  }
  yield text;
  if (told === "stream that fails") {
    throw new Error("as it was told");
  }
  while (told === "endless stream") {
    await pause(10);
    yield text;
  }
}

/** @param {{ body: string, closed?: boolean }} row */
async function* parts({ body, closed = false }) {
  const bytes = Buffer.from(body);
  const half = closed ? bytes.length : bytes.length >> 1;
  yield* [bytes.subarray(0, half), bytes.subarray(half)].filter((piece) => piece.length > 0);
  while (closed) {
    await pause(10);
    yield Buffer.from(":\n");
  }
}

/** @param {AsyncIterable<Uint8Array>} request */
async function textOf(request) {
  const all = [];
  for await (const piece of request) {
    all.push(piece);
  }
  return Buffer.concat(all).toString();
}

module.exports = { done, textOf };
