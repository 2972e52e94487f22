"use strict";
// The orbs of a call: held before its handler, settled by how its answer ends.

const { check } = require("../errors.js");
const { lengthOf } = require("../text.js");
const { gates } = require("./abi.js");
const { linesOf } = require("./cors.js");
const { MESSAGES } = require("./messages.js");
const { Steps } = require("./steps.js");

/** @typedef {InstanceType<typeof import("./ledger.js").Ledger>} Ledger */

/** A message carries at most 8 MiB. */
const MOST_PIECE = 1 << 20;

/** Reads the response to a call at an MCP endpoint for how the call has ended. */
class Response {
  /** Until the call is settled: its handler may go on. @type {ReturnType<typeof Steps.keep> | null} */
  #step;
  #reads = false;
  end;

  /** @param {Pick<import("./messages.js").Charge, "mcpId" | "mcpLegacy" | "mcpSession">} charge */
  constructor({ mcpId, mcpLegacy, mcpSession }) {
    const step = Steps.keep({ number: MESSAGES.READ_RESPONSE, mcpId, mcpLegacy, mcpSession });
    this.end = /** @type {import("./messages.js").Responded} */ (step.first).end;
    this.#step = step;
  }

  /** @param {Iterable<readonly [string, unknown]>} headers */
  begin(headers) {
    const lines = [...headers].flatMap(([name, value]) => [value].flat().map((one) => ({ name: Buffer.from(name), value: Buffer.from(String(one), "latin1") })));
    this.#take({ number: MESSAGES.RESPONSE_BEGINS, headers: lines });
  }

  /** @param {unknown} piece @param {unknown} [encoding] */
  read(piece, encoding) {
    if (this.#reads && (typeof piece === "string" || piece instanceof Uint8Array)) {
      const bytes = typeof piece === "string" ? Buffer.from(piece, typeof encoding === "string" ? /** @type {BufferEncoding} */ (encoding) : "utf8") : piece;
      for (let at = 0; this.#reads && at < bytes.length; at += MOST_PIECE) {
        this.#take({ number: MESSAGES.RESPONSE_PIECE, piece: bytes.subarray(at, at + MOST_PIECE) });
      }
    }
  }

  close() {
    this.#step?.close();
    this.#step = null;
    this.#reads = false;
  }

  /** @param {import("./messages.js").Question} question */
  #take(question) {
    if (this.#step !== null) {
      const { reads, end } = /** @type {import("./messages.js").Responded} */ (this.#step.ask(question));
      this.#reads = reads;
      this.end = end;
    }
  }
}

/** What a request holds. */
class Held {
  #ledger;
  #id;
  /** @type {Response | null} */
  response;
  #isOver = false;
  /** @type {number | undefined} */
  #stated;

  /**
   * @param {Ledger} ledger
   * @param {Uint8Array} id
   * @param {import("./messages.js").Charge} charge
   */
  constructor(ledger, id, charge) {
    this.#ledger = ledger;
    this.#id = id;
    this.name = charge.holdId;
    this.response = charge.mcpId.length > 0 ? new Response(charge) : null;
  }

  /** @param {number} amount */
  state(amount) {
    if (!Number.isSafeInteger(amount) || amount < 0) {
      throw new TypeError("an amount of orbs is an integer from 0");
    }
    this.#stated = amount;
  }

  /**
   * The handler has ended. Only the first time counts.
   * @param {{ cancelled?: boolean, broken?: boolean, status?: number, neverRan?: boolean }} outcome
   */
  end({ cancelled = false, broken = false, status = 0, neverRan = false }) {
    if (!this.#isOver) {
      this.#isOver = true;
      const stated = this.#stated === undefined ? {} : { stated: this.#stated };
      this.#ledger.ended(this.#id, { cancelled, broken, status, neverRan, response: this.response?.end ?? 0, ...stated });
      this.response?.close();
      this.response = null;
    }
  }
}

/**
 * Settles by the answer that a handler gives: by its status as soon as it is complete, even if nobody reads it.
 * @param {Held} held
 * @param {any} response of the server
 */
function settleBy(held, response) {
  if (typeof response.once !== "function") {
    held.end({ status: 101 }); // A handshake.
    return;
  }
  if (response.destroyed) {
    held.end({ neverRan: true });
    return;
  }
  let [hasBegun, isBroken] = [false, false];
  const { write, end, destroy } = response;
  const pass = held.response === null ? () => {} : reading(held.response, response);
  const isOf = (/** @type {any} */ piece) => piece !== undefined && piece !== null && typeof piece !== "function" && piece.length > 0;
  response.write = /** @this {any} @param {any[]} all */ function writing(...all) {
    hasBegun ||= isOf(all[0]);
    pass(...all);
    return write.apply(this, all);
  };
  response.end = /** @this {any} @param {any[]} all */ function ending(...all) {
    pass(...all);
    held.end({ status: response.statusCode });
    return end.apply(this, all);
  };
  response.destroy = /** @this {any} @param {any[]} all */ function destroying(...all) {
    isBroken ||= hasCaller(this);
    return destroy.apply(this, all);
  };
  response.once("close", () => {
    const hasFailed = !hasBegun && (isBroken || (response.errored ?? null) !== null);
    held.end(hasFailed ? {} : isBroken ? { broken: true } : { cancelled: true });
  });
}

/**
 * Whether the caller is still there: a service that destroys the answer to one who isn't follows it.
 * @param {any} response of the server
 */
function hasCaller({ socket, stream }) {
  const connection = stream ?? socket;
  return connection !== null && connection !== undefined && !connection.destroyed && !connection.aborted && !connection.readableAborted;
}

/**
 * Returns a function that reads the pieces of an answer, with its headers before the first.
 * @param {Response} response
 * @param {any} answer of the server
 */
function reading(response, answer) {
  /** Headers that are only in the head. @type {any[]} */
  let given = [];
  const { writeHead } = answer;
  answer.writeHead = /** @this {any} @param {any[]} all */ function heading(...all) {
    given = linesOf(all);
    return writeHead.apply(this, all);
  };
  let hasBegun = false;
  return (/** @type {unknown[]} */ ...[piece, encoding]) => {
    if (!hasBegun) {
      hasBegun = true;
      // What the head has takes the place of what was set before.
      response.begin(new Map([...Object.entries(answer.getHeaders()), ...given].map(([name, value]) => [String(name).toLowerCase(), value])));
    }
    response.read(piece, encoding);
  };
}

/**
 * Whether the body of a request allows bonus orbs: not if its length isn't stated, or is over the limit. The service gets the same bytes.
 * @param {import("../../gate.js").Question} question
 * @param {Readonly<Record<string, any>>} headers
 * @param {number} limit
 */
async function readsBonus({ message }, headers, limit) {
  if (!(Number(headers["content-length"]) > 0)) {
    return false;
  }
  const { body } = await message?.({ mostBytes: limit, take: () => () => {} }) ?? {};
  return body !== undefined && allowsBonusOrbs(body);
}

/**
 * Whether a body allows bonus orbs. Text and bytes are as they came; anything else is what a parser has made of JSON.
 * @param {unknown} body
 */
function allowsBonusOrbs(body) {
  if (body === null || typeof body === "number" || typeof body === "boolean") {
    return false;
  }
  if (typeof body === "object" && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer)) {
    return Object.hasOwn(body, BONUS) && /** @type {Record<string, unknown>} */ (body)[BONUS] === true;
  }
  const raw = /** @type {import("../../index.js").Text} */ (body); // Anything but a text throws.
  const allows = [0];
  check(gates.allowsBonusOrbs(raw, lengthOf(raw), allows), "cannot read a body");
  return allows[0] === 1;
}

const BONUS = "allowBonusOrbsUse";

module.exports = { Held, allowsBonusOrbs, readsBonus, settleBy };
