"use strict";
// What a server of Node hands to other listeners than its request handler. A guard decides each of these requests before a listener gets it.

/** @typedef {import("../../gate.js").GuardedServer} Server */

/** A WebSocket handshake, a tunnel, and two of `Expect`. A `clientError` has no request that anything could decide. */
const EVENTS = ["upgrade", "connect", "checkContinue", "checkExpectation"];

/** @type {WeakSet<object>} */
const guarded = new WeakSet();

/** Answers a request, or lets it go on. @typedef {(request: any, response: any, next: () => void) => void} Ask */

/**
 * Makes it the guard of a server.
 * @param {Server} server
 * @param {Ask} ask
 */
function guardBy(server, ask) {
  guarded.add(server);
  intercept(server, ask);
}

/**
 * Has every event of the server that carries a request asked about by `ask` before its listeners get it.
 * @param {Server} server
 * @param {Ask} ask
 */
function intercept(server, ask) {
  const { emit } = server;
  server.emit = (name, ...args) => {
    const [request, output] = args;
    const goOn = () => emit.call(server, name, ...args);
    if (!EVENTS.includes(/** @type {string} */ (name)) || server.listenerCount(name) === 0) {
      return goOn();
    }
    if (typeof output.writeHead === "function") {
      ask(request, output, goOn);
    } else {
      onSocket(output, (response, next) => ask(request, response, next), goOn);
    }
    return true;
  };
}

/**
 * The server has taken its own listeners off the socket of an upgrade: until the application adds some, an error would end the process.
 * @param {any} socket
 * @param {(response: object, next: () => void) => void} ask
 * @param {() => void} next
 */
function onSocket(socket, ask, next) {
  const ignore = () => {};
  socket.on("error", ignore);
  const response = {
    writeHead: (/** @type {number} */ status, /** @type {Record<string, string>} */ headers) => {
      const lines = Object.entries({ connection: "close", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 ${status} \r\n${lines.join("")}\r\n`, "latin1");
    },
    end: (/** @type {Uint8Array[]} */ ...body) => {
      socket.once("finish", () => socket.destroy());
      socket.end(...body);
    },
  };
  ask(response, () => {
    if (!socket.destroyed) {
      socket.off("error", ignore);
      next();
    }
  });
}

/**
 * The event of a server that has listeners and no guard; `undefined` if there is none.
 * @param {Server} server
 * @param {{ listenerCount(name: string): number } | undefined} session of HTTP/2
 * @returns {string | undefined}
 */
function unguarded(server, session) {
  // One listener for streams is Node's own: it makes requests of them. Nothing can guard another.
  if (server.listenerCount("stream") > 1 || (session !== undefined && session.listenerCount("stream") > 1)) {
    return "stream";
  }
  return guarded.has(server) ? undefined : EVENTS.find((name) => server.listenerCount(name) > 0);
}

/** Whether a server has a guard. */
const isGuarded = (/** @type {Server} */ server) => guarded.has(server);

module.exports = { guardBy, intercept, isGuarded, unguarded };
