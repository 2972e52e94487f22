"use strict";
// One request to an issuer, for a document or about an opaque token: bounded in time and size, without redirects, and it never throws.
const { CODES } = require("../layout.js");

/** @typedef {import("../../gate.js").FetchKeys} FetchKeys */

/**
 * What came, or why nothing did.
 * @typedef {{ status: number, cacheControl: string, body: Uint8Array }} Fetched
 */

/**
 * What to fetch. With a body it is a question about a token, for a `POST` with these credentials.
 * @typedef {{ url: string, timeoutMs: number, maxBytes: number, body: string | null, authorization: string | null }} Question
 */

/**
 * @param {FetchKeys} fetchKeys
 * @param {Question} question
 * @returns {Promise<Fetched | number>} or one of `FETCH_…`
 */
async function get(fetchKeys, question) {
  const signal = AbortSignal.timeout(question.timeoutMs);
  // A function that does not heed the signal is not waited for, either.
  const late = new Promise((_, reject) => signal.addEventListener("abort", reject, { once: true }));
  try {
    return await Promise.race([fetched(fetchKeys, question, signal), /** @type {Promise<never>} */ (late)]);
  } catch {
    return signal.aborted ? CODES.FETCH_TIMEOUT : CODES.FETCH_UNREACHABLE;
  }
}

/**
 * @param {FetchKeys} fetchKeys
 * @param {Question} question
 * @param {AbortSignal} signal
 * @returns {Promise<Fetched | number>}
 */
async function fetched(fetchKeys, { url, maxBytes, body: asked, authorization }, signal) {
  /** @type {Record<string, string>} */
  const headers = { accept: "application/json" };
  /** @type {{ method?: "POST", body?: string }} */
  let post = {};
  if (asked !== null) {
    headers["content-type"] = "application/x-www-form-urlencoded";
    headers.authorization = authorization ?? "";
    post = { method: "POST", body: asked };
  }
  const response = await fetchKeys(url, { redirect: "manual", signal, headers, ...post });
  const body = await read(response.body, maxBytes);
  if (body === null) {
    return CODES.FETCH_TOO_LARGE;
  }
  // A browser hides the status of a redirect.
  return { status: response.status || 302, cacheControl: response.headers.get("cache-control") ?? "", body };
}

/**
 * @param {ReadableStream<Uint8Array> | null} stream
 * @param {number} maxBytes
 * @returns {Promise<Uint8Array | null>} none if there is more
 */
async function read(stream, maxBytes) {
  const chunks = [];
  let length = 0;
  if (stream !== null) {
    const reader = stream.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      chunks.push(next.value);
      length += next.value.length;
      if (length > maxBytes) {
        await reader.cancel();
        return null;
      }
    }
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

module.exports = { get };
