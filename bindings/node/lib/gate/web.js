"use strict";
// Requests and responses of the Fetch API: Hono, Workers, Deno, Bun.
const { Allowed, allow } = require("./allowed.js");
const { FAILURE } = require("./answer.js");
const { fetchedBody } = require("./body.js");
const { logOf } = require("./gate.js");
const { VALUES, certificateOf, isOpen, namesOf, templateOf } = require("./http.js");
const { covers } = require("./mounts.js");
const { again, askOnce, charged, settle } = require("./passed.js");

/**
 * Path and query as the service has them: the server has normalised them.
 * @param {string} url
 */
function targetOf(url) {
  const path = url.indexOf("/", url.indexOf("://") + 3);
  return path < 0 ? "" : url.slice(path);
}

/**
 * @param {any} request
 * @param {any} [incoming] the request of `node:http` that it was made of
 * @returns {import("../../gate.js").Question}
 */
function questionOf(request, incoming) {
  const { method, url, headers } = request;
  // Several values come joined by a comma, which no token and no proof has.
  const [authorization = [], upgrade = [], origin, accessControlRequestMethod, accessControlRequestHeaders, dpop] = (
    VALUES.map((name) => [headers.get(name)].filter((value) => value !== null))
  );
  const certificate = incoming === undefined ? undefined : certificateOf(incoming);
  return { method, target: targetOf(url), authorization, dpop, certificate, upgrade, origin, accessControlRequestMethod, accessControlRequestHeaders,
    headerNames: namesOf([...headers.keys()]), message: (/** @type {import("../../gate.js").Room} */ room) => fetchedBody(request, room) };
}

/**
 * Denies a request that may not continue, although it was let through. If the gate must wait for its answer, without that.
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 * @param {any} request
 * @param {any} [incoming] the request of `node:http` that it was made of
 */
function misrouted(gate, request, incoming) {
  const answer = again(gate, incoming ?? request, { ...questionOf(request, incoming), template: null });
  if (answer instanceof Promise) {
    answer.catch(() => {});
    return responseOf(FAILURE);
  }
  return responseOf(answer);
}

/**
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 * @param {any} request
 * @param {{ templates: (string | null | undefined)[], isForOptions: boolean, mounts: string[] }} taken by a router: templates, each of which must
 * be the decided one; whether their handlers are only for `OPTIONS`; and paths, each of which must have all of the decided one
 * @param {any} [incoming] the request of `node:http` that it was made of
 * @param {(held: any) => void} [holds] what gets what a request that may go on holds
 * @returns {Promise<any>} `undefined` for a request that may go on
 */
async function refused(gate, request, { templates: [first, ...others], isForOptions, mounts }, incoming, holds) {
  let answer;
  try {
    if (incoming !== undefined && isOpen(gate, incoming)) {
      return responseOf(FAILURE);
    }
    const plain = questionOf(request, incoming);
    const question = first === undefined ? plain : { ...plain, template: first };
    const server = incoming ?? request;
    answer = await askOnce(gate, server, question);
    const decided = templateOf(answer);
    const isOther = (answer.preflight && !isForOptions) || !mounts.every((path) => covers(path, decided));
    for (const template of isOther ? [null] : others) {
      answer = answer.isAllow ? await again(gate, server, { ...plain, template: template ?? null }) : answer;
    }
    if (answer.isAllow) {
      /** @type {any} */
      let held = null;
      const headers = Object.fromEntries(request.headers);
      const hasLeft = () => request.signal.aborted;
      answer = await charged(gate, server, { headers, hasLeft }, question, answer, (_, one) => void (held = one));
      if (answer.isAllow) {
        if (held !== null && holds === undefined) {
          held.end({ neverRan: true });
          throw new Error("a gate with a ledger charges only calls of which it sees the answer");
        }
        settle(gate, server);
        allow(request, new Allowed(question, answer, held), () => true);
        if (held !== null) {
          holds?.(held);
        }
        return undefined;
      }
    }
  } catch (error) {
    logOf(gate).error(`orbgate: a request is denied: ${error instanceof Error ? error.message : error}`);
    answer = FAILURE;
  }
  return responseOf(answer);
}

/** @param {{ httpStatus: number | null, headers: Readonly<Record<string, string>>, body?: Uint8Array | null }} answer */
const responseOf = ({ httpStatus, headers, body = null }) => (
  new Response(/** @type {any} */ (body), { status: httpStatus ?? FAILURE.httpStatus, headers: { ...headers, "content-length": String(body?.length ?? 0) } })
);

/**
 * @param {InstanceType<typeof import("./gate.js").Gate>} gate
 * @param {any} request
 */
const refusal = (gate, request) => refused(gate, request, { templates: [undefined], isForOptions: true, mounts: [] });

module.exports = { misrouted, refusal, refused };
