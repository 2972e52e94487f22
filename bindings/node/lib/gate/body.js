"use strict";
// Reads a request's body before its service does, which then gets the same bytes.

/** @typedef {import("../../gate.js").Room} Room */
/** @typedef {import("../../gate.js").Message} Message */

/** A body, or why there is none. @typedef {Pick<Message, "body" | "fault">} Read */

/** What was read of a request of a server, because it can be decided more than once. @type {WeakMap<object, Promise<Read>>} */
const bodies = new WeakMap();

/**
 * @param {object} request
 * @param {() => Promise<Read>} read
 */
function once(request, read) {
  const body = bodies.get(request) ?? read();
  bodies.set(request, body);
  return body;
}

/**
 * The body of a request of `node:http`. It counts as held until the request is over.
 * @param {any} request
 * @param {Room} room
 * @returns {Promise<Read>}
 */
const bodyOf = (request, room) => once(request, async () => {
  const { "content-length": stated, "transfer-encoding": coding } = request.headers;
  const length = stated === undefined && coding === undefined && request.httpVersionMajor < 2 ? 0 : Number(stated ?? Infinity);
  if (length === 0) {
    return { body: new Uint8Array(0) };
  }
  // What has read it, such as a parser before the gate, might have another body for the service.
  if (typeof request.unshift !== "function" || request.readableDidRead !== false || request.readableEncoding) {
    return { fault: "unreadable" };
  }
  if (stated !== undefined && length > room.mostBytes) {
    return { fault: "tooLarge" };
  }
  const release = room.take(Math.min(length, room.mostBytes));
  if (release === null) {
    return { fault: "busy" };
  }
  request.once("close", release);
  return reading(request, room.mostBytes);
});

/**
 * Reads a stream, and puts back what it has read before the stream can end.
 * @param {any} request
 * @param {number} most
 * @returns {Promise<Read>}
 */
const reading = (request, most) => new Promise((resolve) => {
  /** @type {Buffer[]} */
  const chunks = [];
  let length = 0;
  const finish = (/** @type {Read} */ result) => {
    request.off("readable", more).off("end", ended).off("error", failed).off("close", failed);
    if (length > 0 && !request.readableEnded && !request.destroyed) {
      request.unshift(Buffer.concat(chunks));
    }
    resolve(result);
  };
  const whole = () => finish({ body: Buffer.concat(chunks) });
  const failed = () => finish({ fault: "unreadable" });
  // After this event, nothing can be put back.
  const ended = () => (length === 0 ? whole() : failed());
  const more = () => {
    // With nothing to read, the event says that the stream is at its end.
    const isAtEnd = request.readableLength === 0;
    while (request.readableLength > 0) {
      const chunk = request.read();
      chunks.push(chunk);
      length += chunk.length;
    }
    if (length > most) {
      finish({ fault: "tooLarge" });
    } else if (isAtEnd || (request.httpVersionMajor < 2 ? request.complete : request.stream.readableEnded)) {
      whole();
    }
  };
  request.on("readable", more).on("end", ended).on("error", failed).on("close", failed);
});

/**
 * The body of a request of the Fetch API. It counts as held until the gate has decided.
 * @param {any} request
 * @param {Room} room
 * @returns {Promise<Message>}
 */
async function fetchedBody(request, room) {
  // The Fetch API has joined the lines of a header. Of the version, two are denied; in the others, a joined value fits nothing.
  const headers = [...request.headers].flatMap(([name, value]) => (
    (name === "mcp-protocol-version" ? value.split(",") : [value]).map((/** @type {string} */ one) => /** @type {const} */ ([name, one]))
  ));
  const stated = request.headers.get("content-length");
  if (Number(stated ?? 0) > room.mostBytes) {
    return { headers, fault: "tooLarge" };
  }
  const release = room.take(Math.min(Number(stated ?? Infinity), room.mostBytes));
  if (release === null) {
    return { headers, fault: "busy" };
  }
  return { headers, release, ...await once(request, () => cloned(request, room.mostBytes)) };
}

/**
 * @param {any} request
 * @param {number} most
 * @returns {Promise<Read>}
 */
async function cloned(request, most) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  let length = 0;
  try {
    // It throws if something has read the body.
    const reader = request.clone().body?.getReader();
    for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader.read()) {
      chunks.push(next.value);
      length += next.value.length;
      if (length > most) {
        reader.cancel().catch(() => {}); // It waits for the service to read the other half.
        return { fault: "tooLarge" };
      }
    }
  } catch {
    return { fault: "unreadable" };
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return { body };
}

module.exports = { bodyOf, fetchedBody };
