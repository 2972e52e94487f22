"use strict";
// A gate and a server for a test.
const http = require("node:http");
const { once } = require("node:events");
const { Engine } = require("orbgate");
const { Gate } = require("orbgate/gate");
const { issuer } = require("./issuer.js");

/**
 * A gate under the table of the specification, what it counts and logs, and headers with a token of its issuer.
 * @param {import("node:test").TestContext} context
 * @param {Engine} [engine]
 * @param {import("orbgate/gate").GateOptions} [more]
 */
async function gated(context, engine = Engine.external(), more = {}) {
  const { tokens, token } = await issuer(context);
  const counted = /** @type {string[]} */ ([]);
  const count = (/** @type {string} */ name, /** @type {object} */ labels) => void counted.push([name, ...Object.values(labels)].join(" "));
  const logged = /** @type {string[]} */ ([]);
  const log = (/** @type {string} */ message) => void logged.push(message);
  const gate = new Gate(engine, tokens, { log: { info: log, warn: log, error: log }, count, ...more });
  logged.length = 0; // Without the line about charging.
  const bearer = (/** @type {string} */ scope) => ({ authorization: `Bearer ${token(scope)}` });
  return { gate, counted, logged, bearer };
}

/**
 * @param {import("node:test").TestContext} context
 * @param {http.RequestListener} listen
 */
const served = (context, listen) => listening(context, http.createServer(listen));

/**
 * The port of a server that is closed after the test.
 * @param {import("node:test").TestContext} context
 * @param {import("node:net").Server} server
 */
async function listening(context, server) {
  server.listen(0, "127.0.0.1");
  context.after(() => void server.close());
  await once(server, "listening");
  return portOf(server);
}

const portOf = (/** @type {import("node:net").Server} */ server) => /** @type {import("node:net").AddressInfo} */ (server.address()).port;

module.exports = { gated, listening, portOf, served };
