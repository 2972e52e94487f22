"use strict";
// What a gate states that a response must have, for the pages of an MCP endpoint: it takes the place of what the service has for browsers.

/** @typedef {Readonly<Record<string, string>>} Stated */

const isOwn = (/** @type {string} */ name) => name.toLowerCase().startsWith("access-control-");

/**
 * A list with one more word, unless it has it.
 * @param {string | number | string[] | null | undefined} list
 * @param {string} word
 */
function listed(list, word) {
  const words = [list ?? []].flat().join(", ");
  return words.toLowerCase().split(/\s*,\s*/).includes(word.toLowerCase()) ? words : words === "" ? word : `${words}, ${word}`;
}

/**
 * The lines of a head, from what `writeHead` gets.
 * @param {any[]} given
 * @returns {[string, any][]}
 */
function linesOf(given) {
  const headers = given.findLast((one) => typeof one === "object" && one !== null) ?? {};
  if (!Array.isArray(headers)) {
    return Object.entries(headers);
  }
  return Array.isArray(headers[0]) ? headers : headers.flatMap((name, at) => (at % 2 === 0 ? [/** @type {[string, any]} */ ([String(name), headers[at + 1]])] : []));
}

/**
 * Sees to it when the head of a response is written.
 * @param {any} response of the server
 * @param {Stated} stated
 */
function stateOn(response, stated) {
  if (Object.keys(stated).length === 0 || typeof response.setHeader !== "function") {
    return;
  }
  const { writeHead } = response;
  response.writeHead = /** @this {any} @param {number} status @param {any[]} given */ function heading(status, ...given) {
    /** @type {Map<string, any[]>} */
    const lines = new Map();
    for (const [name, value] of linesOf(given)) {
      const known = lines.get(name.toLowerCase()) ?? [];
      lines.set(name.toLowerCase(), [...known, value].flat());
    }
    // What the head has takes the place of what was set before.
    for (const [name, values] of lines) {
      this.setHeader(name, values.length === 1 ? values[0] : values);
    }
    for (const name of this.getHeaderNames().filter(isOwn)) {
      this.removeHeader(name);
    }
    for (const [name, value] of Object.entries(stated)) {
      this.setHeader(name, name === "vary" ? listed(this.getHeader(name), value) : value);
    }
    return writeHead.call(this, status, ...given.filter((one) => typeof one === "string"));
  };
}

/**
 * The same for a response of the Fetch API, whose body stays as it is.
 * @param {Response} response
 * @param {Stated} lines
 */
function stated(response, lines) {
  if (Object.keys(lines).length === 0) {
    return response;
  }
  const changed = new Response(response.body, response);
  for (const name of [...changed.headers.keys()].filter(isOwn)) {
    changed.headers.delete(name);
  }
  for (const [name, value] of Object.entries(lines)) {
    changed.headers.set(name, name === "vary" ? listed(changed.headers.get(name), value) : value);
  }
  return changed;
}

module.exports = { linesOf, stateOn, stated };
