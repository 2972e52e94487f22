"use strict";
// The messages of gates. Made of crates/orbgate-capi/src/generate/shapes.txt by `cargo xtask codes`; not to be edited.
const { CRITICAL, HEAD, Kept, bytesAt, integerAt, sizeAt, skip, textAt } = require("./wire.js");

/** @typedef {InstanceType<typeof import("./wire.js").Writer>} Writer */
/** @typedef {import("../../index.js").Text} Text */
/** @template Of @typedef {(to: Writer, of: Of) => void} Put */
/** With a view of the same memory. @template Of @typedef {(bytes: Uint8Array, view: DataView, start: number, end: number) => Of | null} Read */

/** The numbers of questions and answers. */
const MESSAGES = Object.freeze({
  SOURCES: 1,
  MAKE: 2,
  ASK: 3,
  RESUME: 4,
  CHECKED: 5,
  IS_OVER: 6,
  NEXT_CALL: 7,
  CALLED: 8,
  WARM: 9,
  REVOKE: 10,
  FORGET: 11,
  READ_SECRETS: 12,
  STATUS: 13,
  CHECK_ENGINE: 14,
  CHECK_ROUTES: 15,
  DROP: 16,
  BODY: 17,
  RELOAD: 24,
  USE_LEDGER: 30,
  HOLD: 31,
  HELD: 32,
  WAITED: 33,
  ENDED: 34,
  NEXT_LEDGER_CALL: 35,
  LEDGER_CALLED: 36,
  CHECK_AMOUNTS: 37,
  READ_RESPONSE: 38,
  RESPONSE_BEGINS: 39,
  RESPONSE_PIECE: 40,
  VISIBLE: 44,
  DONE: 64,
  FAILED: 65,
  ANSWER: 66,
  WAIT: 67,
  CHECK_SIGNATURE: 68,
  CALL: 69,
  OVER: 70,
  SECRET_SOURCES: 71,
  KEY_STATUS: 72,
  ROUTE_DIFFERENCES: 73,
  READ_BODY: 74,
  LOADED: 84,
  CHARGE: 90,
  HOLD_STEP: 91,
  LEDGER_CALL: 92,
  LEDGERED: 93,
  RESPONDED: 94,
  VISIBLE_NAMES: 98,
});

/**
 * Asks which secrets a token configuration needs. Answered by `SecretSources` or `Failed`.
 * @typedef {object} Sources
 * @property {1} number
 * @property {Text} [tokens] The token configuration, in YAML.
 */

/** @type {Put<Sources>} */
const putSources = (to, of) => {
  to.text(1, of.tokens);
};

/**
 * Makes a gate. Answered by `Done` or `Failed`; after `Done`, `orbgate_step_gate` returns the gate.
 * @typedef {object} Make
 * @property {2} number
 * @property {Text} [tokens] The token configuration, in YAML: which tokens are accepted.
 * @property {boolean} [flat403] Every denial has the status 403, so an unknown route looks like a missing scope.
 * @property {boolean} [ignoreMethodOverride] No header can override a `POST`. Unsafe if the service follows such headers.
 * @property {boolean} [signaturesOutside] The host checks signatures. A library without cryptography requires it.
 * @property {boolean} [noStaleKeys] No key is used after its time; `max_stale_ms` must be 0.
 * @property {boolean} [introspection] The host sends calls that have a body, which issuers of opaque tokens need.
 * @property {number} [challenge] An `ORBGATE_CHALLENGE_*` number: the `WWW-Authenticate` header of denials.
 * @property {number} [templates] An `ORBGATE_TEMPLATES_*` number: the router's syntax for parameters.
 * @property {number} [corsPreflight] An `ORBGATE_CORS_PREFLIGHT_*` number: how a CORS preflight is decided.
 * @property {Text} [realm] The realm of a full challenge: printable ASCII without `"` and `\`.
 * @property {Text} [resourceMetadata] The `https` URL of the service's metadata in a full challenge (RFC 9728).
 * @property {number} [ttlMs] How long keys are fresh if the issuer sends no usable `Cache-Control`. 0 selects 600 s.
 * @property {number} [ttlMinMs] The shortest time that an issuer can set. 0 selects 60 s.
 * @property {number} [ttlMaxMs] The longest time that an issuer can set. 0 selects 3,600 s.
 * @property {number} [aheadPercent] The percentage of keys' time after which a token starts a call ahead. 0 selects 80.
 * @property {number} [maxStaleMs] How long stale keys are used if new ones can't be fetched. 0 selects 3,600 s.
 * @property {number} [cooldownMs] The time between two attempts. 0 selects 30 s.
 * @property {number} [burst] How many attempts tokens with unknown keys can start at once and per cooldown. 0 selects 4.
 * @property {number} [retryMs] The time between two attempts while there are no keys. 0 selects 1 s.
 * @property {number} [timeoutMs] The time limit for one attempt. 0 selects 5 s.
 * @property {readonly Text[]} [publicRoutes] Routes that need no token, as in a policy with the whole path: `GET /healthz`.
 * @property {readonly Secret[]} [secrets] Secrets in the order of `SecretSources`. Empty: the library reads them all.
 * @property {Text} [mcp] The path of an MCP endpoint, whose requests are decided by the operations in their bodies.
 * @property {Text} [mcpInitialScopes] The scopes that a client without a token should ask for, separated by spaces.
 * @property {number} [mcpMostBytes] The longest body of the endpoint, at most 8 MiB. 0 selects 4 MiB.
 * @property {boolean} [mcpDenyLegacy] Requests of protocol versions without the headers of MCP are denied.
 * @property {Text} [metadata] The URL of the protected resource, whose metadata (RFC 9728) the gate serves.
 * @property {readonly Text[]} [mcpOrigins] Origins whose pages may send requests to the endpoint, such as `https://app.example`.
 */

/** @type {Put<Make>} */
const putMake = (to, of) => {
  to.text(1, of.tokens);
  to.flag(2, of.flat403);
  to.flag(3, of.ignoreMethodOverride);
  to.flag(4, of.signaturesOutside);
  to.flag(5, of.noStaleKeys);
  to.flag(6, of.introspection);
  to.integer(7, of.challenge);
  to.integer(8, of.templates);
  to.integer(9, of.corsPreflight);
  to.text(10, of.realm);
  to.text(11, of.resourceMetadata);
  to.integer(12, of.ttlMs);
  to.integer(13, of.ttlMinMs);
  to.integer(14, of.ttlMaxMs);
  to.integer(15, of.aheadPercent);
  to.integer(16, of.maxStaleMs);
  to.integer(17, of.cooldownMs);
  to.integer(18, of.burst);
  to.integer(19, of.retryMs);
  to.integer(20, of.timeoutMs);
  to.texts(21, of.publicRoutes);
  to.parts(22, of.secrets, putSecret);
  to.text(23, of.mcp);
  to.text(24, of.mcpInitialScopes);
  to.integer(25, of.mcpMostBytes);
  to.flag(26, of.mcpDenyLegacy);
  to.text(27, of.metadata);
  to.texts(28, of.mcpOrigins);
};

/**
 * Starts a request, as received: neither decoded nor joined. Answered by `Answer`, `Wait`, `CheckSignature`, `ReadBody` or `Charge`.
 * @typedef {object} Ask
 * @property {3} number
 * @property {Text} [method] The method.
 * @property {Text} [target] The target: path and query, in the bytes of the request line or of `:path`.
 * @property {readonly Text[]} [authorization] Every value of `Authorization`, one item for each header line.
 * @property {readonly Text[]} [headerNames] The names of all headers, or at least those that contain `method`, in any letter case.
 * @property {readonly Text[]} [upgrade] Every value of `Upgrade`. A request that lists `h2c` is denied.
 * @property {readonly Text[]} [origin] Every value of `Origin`.
 * @property {readonly Text[]} [accessControlRequestMethod] Every value of `Access-Control-Request-Method`.
 * @property {number} [matched] An `ORBGATE_MATCHED_*` number: what a router before the gate has chosen.
 * @property {Text} [pathTemplate] With `ORBGATE_MATCHED_TEMPLATE`, that template with any prefix, in the gate's syntax.
 * @property {boolean} [allowBonusOrbs] The request allows bonus orbs.
 * @property {boolean} [withAudit] The answer has a line for an audit log.
 * @property {boolean} [holdsThread] A thread blocks while it waits: only one such request waits longer than a second.
 * @property {number} [unixMs] The time since 1970, which determines whether tokens are valid.
 * @property {number} [monotonicMs] The time on the monotonic clock, which determines when keys are fetched.
 * @property {boolean} [readsBonusOrbs] The host reads `allow_bonus_orbs`, so the audit's `bonus_allowed` isn't null.
 * @property {boolean} [charges] A ledger must hold the call's orbs: if it consumes, answered by `Charge`, or by a denial.
 * @property {boolean} [hasAmount] A function has returned how many orbs the call consumes; otherwise the policy states it.
 * @property {number} [amount] What the function has returned. 0 holds nothing.
 * @property {number} [unpaid] The `unpaid` of a `HoldStep` that has denied the call: answered by its denial.
 * @property {number} [retryAfterMs] That of the same `HoldStep`.
 * @property {boolean} [amountFailed] The function has failed, so the call is denied.
 * @property {boolean} [keeps] After an allow that consumes, and after `Charge`, the step keeps the token for `again`.
 * @property {boolean} [again] The request of the last answer: its token isn't verified again, the rest counts as it is.
 * @property {Text} [hold] With `charges`, the `id` of the `Hold` that follows: 16 random bytes. `Charge` names it.
 */

/** @type {Put<Ask>} */
const putAsk = (to, of) => {
  to.text(1, of.method);
  to.text(2, of.target);
  to.texts(3, of.authorization);
  to.texts(4, of.headerNames);
  to.texts(5, of.upgrade);
  to.texts(6, of.origin);
  to.texts(7, of.accessControlRequestMethod);
  to.integer(8, of.matched);
  to.text(9, of.pathTemplate);
  to.flag(10, of.allowBonusOrbs);
  to.flag(11, of.withAudit);
  to.flag(12, of.holdsThread);
  to.integer(13, of.unixMs);
  to.integer(14, of.monotonicMs);
  to.flag(15, of.readsBonusOrbs);
  to.flag(20, of.charges);
  to.flag(21, of.hasAmount);
  to.integer(22, of.amount);
  to.integer(23, of.unpaid);
  to.integer(24, of.retryAfterMs);
  to.flag(25, of.amountFailed);
  to.flag(26, of.keeps);
  to.flag(27, of.again);
  to.text(28, of.hold);
};

/**
 * Resumes a step after its `Wait` is over. The engine can be a later one. Answered like `Ask`.
 * @typedef {object} Resume
 * @property {4} number
 * @property {number} [unixMs] The time since 1970.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<Resume>} */
const putResume = (to, of) => {
  to.integer(1, of.unixMs);
  to.integer(2, of.monotonicMs);
};

/**
 * Resumes a step after its signature was checked. Answered by `Answer`, `ReadBody` or `Charge`.
 * @typedef {object} Checked
 * @property {5} number
 * @property {boolean} [isRight] The signature is valid.
 * @property {number} [tokenHash] The first 8 bytes of the token's SHA-256 hash, or 0 if the library must hash it.
 * @property {number} [unixMs] The time since 1970.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<Checked>} */
const putChecked = (to, of) => {
  to.flag(1, of.isRight);
  to.integer(2, of.tokenHash);
  to.integer(3, of.unixMs);
  to.integer(4, of.monotonicMs);
};

/**
 * Asks whether a step's wait is over, after each report and at `until_ms`. Answered by `Over`.
 * @typedef {object} IsOver
 * @property {6} number
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<IsOver>} */
const putIsOver = (to, of) => {
  to.integer(1, of.monotonicMs);
};

/**
 * Asks for the next call: at the start, after `ReadSecrets`, and after answers with `may_call`, until `Done`. Answered by `Call` or `Done`.
 * @typedef {object} NextCall
 * @property {7} number
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<NextCall>} */
const putNextCall = (to, of) => {
  to.integer(1, of.monotonicMs);
};

/**
 * Reports the result of a call. Answered by `Call`, the next one of the attempt, or by `Done`: then steps that wait can be resumed.
 * @typedef {object} Called
 * @property {8} number
 * @property {number} [attempt] The attempt of the call. A report for one that is over has no effect.
 * @property {number} [failure] An `ORBGATE_FETCH_*` number if there is no response; otherwise 0.
 * @property {number} [status] The status of the response.
 * @property {readonly Header[]} [headers] Its headers, or at least each `Cache-Control`.
 * @property {Text} [body] Its body, which can be left out if the status isn't 200.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<Called>} */
const putCalled = (to, of) => {
  to.integer(1, of.attempt);
  to.integer(2, of.failure);
  to.integer(3, of.status);
  to.parts(4, of.headers, putHeader);
  to.text(5, of.body);
  to.integer(6, of.monotonicMs);
};

/**
 * Requests every issuer's keys, as far as the settings allow. Answered by `Done`; then ask `NextCall`.
 * @typedef {object} Warm
 * @property {9} number
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<Warm>} */
const putWarm = (to, of) => {
  to.integer(1, of.monotonicMs);
};

/**
 * Never uses a key again. Answered by `Done`; an unknown issuer gives `ORBGATE_STATUS_NOT_FOUND`.
 * @typedef {object} Revoke
 * @property {10} number
 * @property {Text} [issuer] The issuer.
 * @property {Text} [kid] The key's `kid`.
 */

/** @type {Put<Revoke>} */
const putRevoke = (to, of) => {
  to.text(1, of.issuer);
  to.text(2, of.kid);
};

/**
 * Forgets an issuer's keys or answers about tokens, when it has withdrawn one. Answered like `Revoke`.
 * @typedef {object} Forget
 * @property {11} number
 * @property {Text} [issuer] The issuer.
 */

/** @type {Put<Forget>} */
const putForget = (to, of) => {
  to.text(1, of.issuer);
};

/**
 * Reads the secrets again. If one can't be read, all stay. Answered by `Done` or `Failed`.
 * @typedef {object} ReadSecrets
 * @property {12} number
 * @property {readonly Secret[]} [secrets] As in `Make`.
 */

/** @type {Put<ReadSecrets>} */
const putReadSecrets = (to, of) => {
  to.parts(1, of.secrets, putSecret);
};

/**
 * Asks for the status of each issuer's keys. Answered by `KeyStatus`.
 * @typedef {object} Status
 * @property {13} number
 */

/**
 * Checks that no path has a public route and one of the policy. Answered by `Done` or `Failed`.
 * @typedef {object} CheckEngine
 * @property {14} number
 */

/**
 * Compares a service's routes with the policy's and the gate's. Answered by `RouteDifferences`.
 * @typedef {object} CheckRoutes
 * @property {15} number
 * @property {readonly ServiceRoute[]} [routes] The routes of the service.
 * @property {number} [templates] Without a gate, an `ORBGATE_TEMPLATES_*` number: the syntax of the templates.
 */

/** @type {Put<CheckRoutes>} */
const putCheckRoutes = (to, of) => {
  to.parts(1, of.routes, putServiceRoute);
  to.integer(2, of.templates);
};

/**
 * Ends a step's request, for example when the client disconnects. Answered by `Done`.
 * @typedef {object} Drop
 * @property {16} number
 */

/**
 * Decides a request after its `ReadBody`. Answered by `Answer` or `Charge`.
 * @typedef {object} Body
 * @property {17} number
 * @property {Text} [body] The whole body as received, unless one of the flags is set.
 * @property {boolean} [tooLarge] The body is longer than allowed.
 * @property {readonly Header[]} [headers] Header lines, at least each that starts with `content` or `mcp` in any case.
 * @property {number} [unixMs] The time since 1970, for the audit log.
 * @property {boolean} [busy] There was no room for the body.
 * @property {boolean} [unreadable] The body couldn't be read.
 */

/** @type {Put<Body>} */
const putBody = (to, of) => {
  to.text(1, of.body);
  to.flag(2, of.tooLarge);
  to.parts(3, of.headers, putHeader);
  to.integer(4, of.unixMs);
  to.flag(5, of.busy);
  to.flag(6, of.unreadable);
};

/**
 * Checks a version of the policy. The engine is the active one, or null before the first. Answered by `Loaded`.
 * @typedef {object} Reload
 * @property {24} number
 * @property {Text} [policy] The contents of the file. Without `interval_ms`, it must have an end marker.
 * @property {Text} [failure] Why the file can't be read; empty if it was read.
 * @property {boolean} [requireSeal] Reject a version without a seal.
 * @property {boolean} [refuseWider] Reject a version that allows more than the active one, or for fewer orbs.
 * @property {readonly Secret[]} [secrets] As in `Make`.
 * @property {number} [intervalMs] Ask with this step after each `pause_ms`, until `Drop`: a version counts once it was read twice without a change. 0: it counts now.
 * @property {boolean} [isTold] An operator waits for the result.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 * @property {Text} [file] The name of the file, for errors and the log.
 * @property {Text} [secretsFailure] Why the host can't read a secret; then no version is loaded. Otherwise empty.
 * @property {boolean} [hasLedger] A ledger charges calls, so each route that consumes orbs must have an amount.
 * @property {readonly Text[]} [amounts] The routes with a function that states the amount.
 */

/** @type {Put<Reload>} */
const putReload = (to, of) => {
  to.text(1, of.policy);
  to.text(2, of.failure);
  to.flag(3, of.requireSeal);
  to.flag(4, of.refuseWider);
  to.parts(5, of.secrets, putSecret);
  to.integer(6, of.intervalMs);
  to.flag(7, of.isTold);
  to.integer(8, of.monotonicMs);
  to.text(9, of.file);
  to.text(10, of.secretsFailure);
  to.flag(11, of.hasLedger);
  to.texts(12, of.amounts);
};

/**
 * Makes the step the holds of a process in a ledger service, for `Hold` to `LedgerCalled`, until `Drop`. Answered by `Ledgered` or `Failed`.
 * @typedef {object} UseLedger
 * @property {30} number
 * @property {boolean} [capturesCancelled] A call is charged whose handler, or begun stream, stopped midway.
 * @property {number} [ttlMs] How long a hold lasts if the process stops. 0 selects 60 s.
 * @property {number} [timeoutMs] How long a call waits for the service before it is denied. 0 selects 2 s.
 * @property {number} [queue] How many settlements can wait for the service. 0 selects 4,096.
 * @property {boolean} [voidsCancelled] Such a call isn't charged. One of the two must be true.
 * @property {boolean} [capturesToolErrors] A call at an MCP endpoint is charged whose result has `isError`.
 * @property {boolean} [voidsToolErrors] It isn't charged. With an MCP endpoint, one of the two must be true.
 * @property {boolean} [capturesInputRequired] A call at an MCP endpoint is charged whose result asks for input.
 * @property {boolean} [voidsInputRequired] It isn't charged. With an MCP endpoint, one of the two must be true.
 */

/** @type {Put<UseLedger>} */
const putUseLedger = (to, of) => {
  to.flag(1, of.capturesCancelled);
  to.integer(2, of.ttlMs);
  to.integer(3, of.timeoutMs);
  to.integer(4, of.queue);
  to.flag(5, of.voidsCancelled);
  to.flag(6, of.capturesToolErrors);
  to.flag(7, of.voidsToolErrors);
  to.flag(8, of.capturesInputRequired);
  to.flag(9, of.voidsInputRequired);
};

/**
 * Begins to hold the orbs of a `Charge`. Answered by `HoldStep`.
 * @typedef {object} Hold
 * @property {31} number
 * @property {Text} [id] 16 random bytes, new for each request.
 * @property {Text} [account] That of the `Charge`, and so are the others.
 * @property {number} [amount] How many orbs.
 * @property {boolean} [bonus] Bonus orbs may be used.
 * @property {Text} [note] What the service notes.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<Hold>} */
const putHold = (to, of) => {
  to.text(1, of.id);
  to.text(2, of.account);
  to.integer(3, of.amount);
  to.flag(4, of.bonus);
  to.text(5, of.note);
  to.integer(6, of.monotonicMs);
};

/**
 * Reports what the service has answered to the call of a `HoldStep`. Answered by `HoldStep`.
 * @typedef {object} Held
 * @property {32} number
 * @property {Text} [id] The id of the hold.
 * @property {number} [status] The HTTP status; 0 without an answer.
 * @property {Text} [body] The body.
 * @property {number} [unixMs] The time since 1970.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<Held>} */
const putHeld = (to, of) => {
  to.text(1, of.id);
  to.integer(2, of.status);
  to.text(3, of.body);
  to.integer(4, of.unixMs);
  to.integer(5, of.monotonicMs);
};

/**
 * The request has waited. Answered by `HoldStep`.
 * @typedef {object} Waited
 * @property {33} number
 * @property {Text} [id] The id of the hold.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<Waited>} */
const putWaited = (to, of) => {
  to.text(1, of.id);
  to.integer(2, of.monotonicMs);
};

/**
 * Reports once how the handler of a hold has ended. Answered by `Ledgered`; then ask for the next call.
 * @typedef {object} Ended
 * @property {34} number
 * @property {Text} [id] The id of the hold.
 * @property {boolean} [cancelled] It was stopped midway, or its stream failed after the first byte.
 * @property {number} [status] The HTTP status of the whole answer; 0 if it or the handler failed before the first byte.
 * @property {boolean} [isStated] The handler has stated how many orbs it has consumed.
 * @property {number} [stated] How many.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 * @property {boolean} [neverRan] It never ran.
 * @property {number} [response] Of a call at an MCP endpoint, the `end` of its last `Responded`; 0 for any other.
 */

/** @type {Put<Ended>} */
const putEnded = (to, of) => {
  to.text(1, of.id);
  to.flag(2, of.cancelled);
  to.integer(3, of.status);
  to.flag(4, of.isStated);
  to.integer(5, of.stated);
  to.integer(6, of.monotonicMs);
  to.flag(7, of.neverRan);
  to.integer(8, of.response);
};

/**
 * Asks for the next message to the service, after each report and at `wake_ms`. Send one at a time. Answered by `LedgerCall` or `Ledgered`.
 * @typedef {object} NextLedgerCall
 * @property {35} number
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<NextLedgerCall>} */
const putNextLedgerCall = (to, of) => {
  to.integer(1, of.monotonicMs);
};

/**
 * Reports what the service has answered. Answered by `Ledgered`; then ask for the next call.
 * @typedef {object} LedgerCalled
 * @property {36} number
 * @property {number} [call] The number of the `LedgerCall`.
 * @property {number} [status] The HTTP status; 0 without an answer.
 * @property {Text} [body] The body.
 * @property {number} [monotonicMs] The time on the monotonic clock.
 */

/** @type {Put<LedgerCalled>} */
const putLedgerCalled = (to, of) => {
  to.integer(1, of.call);
  to.integer(2, of.status);
  to.text(3, of.body);
  to.integer(4, of.monotonicMs);
};

/**
 * Checks that each route that consumes orbs has an amount or a function, and that functions have routes. Answered by `Done` or `Failed`.
 * @typedef {object} CheckAmounts
 * @property {37} number
 * @property {readonly Text[]} [functions] The routes with a function, as the policy names them.
 */

/** @type {Put<CheckAmounts>} */
const putCheckAmounts = (to, of) => {
  to.texts(1, of.functions);
};

/**
 * Makes the step, until `Drop`, the reader of the response of an MCP endpoint; ask before the handler runs. Answered by `Responded`.
 * @typedef {object} ReadResponse
 * @property {38} number
 * @property {Text} [mcpId] That of the `Charge`.
 * @property {boolean} [mcpLegacy] That of the `Charge`.
 */

/** @type {Put<ReadResponse>} */
const putReadResponse = (to, of) => {
  to.text(1, of.mcpId);
  to.flag(2, of.mcpLegacy);
};

/**
 * The response begins. Answered by `Responded`.
 * @typedef {object} ResponseBegins
 * @property {39} number
 * @property {readonly Header[]} [headers] Its header lines: at least `Content-Type` and `Content-Encoding`.
 */

/** @type {Put<ResponseBegins>} */
const putResponseBegins = (to, of) => {
  to.parts(1, of.headers, putHeader);
};

/**
 * A piece of its body. Answered by `Responded`.
 * @typedef {object} ResponsePiece
 * @property {40} number
 * @property {Text} [piece] The bytes.
 */

/** @type {Put<ResponsePiece>} */
const putResponsePiece = (to, of) => {
  to.text(1, of.piece);
};

/**
 * Asks which names a token may pass to a method of the MCP endpoint. Answered by `VisibleNames`.
 * @typedef {object} Visible
 * @property {44} number
 * @property {number} [kind] The kind of the token, an `OrbgateTokenKind`.
 * @property {Text} [scopes] Its scopes.
 * @property {Text} [method] `tools/call` for tools, `prompts/get` for prompts, `resources/read` for URIs.
 * @property {readonly Text[]} [names] The names.
 */

/** @type {Put<Visible>} */
const putVisible = (to, of) => {
  to.integer(1, of.kind);
  to.text(2, of.scopes);
  to.text(3, of.method);
  to.texts(4, of.names);
};

/**
 * A secret that the host passes.
 * @typedef {object} Secret
 * @property {Text} [value] The secret; absent if the library reads it from its file or environment variable.
 */

/** @type {Put<Secret>} */
const putSecret = (to, of) => {
  to.optional(1, of.value);
};

/**
 * A header line.
 * @typedef {object} Header
 * @property {Text} [name] Its name, in any letter case.
 * @property {Text} [value] Its value.
 */

/** @type {Put<Header>} */
const putHeader = (to, of) => {
  to.text(1, of.name);
  to.text(2, of.value);
};

/**
 * A route of a service.
 * @typedef {object} ServiceRoute
 * @property {Text} [method] Its method.
 * @property {Text} [pathTemplate] Its template.
 */

/** @type {Put<ServiceRoute>} */
const putServiceRoute = (to, of) => {
  to.text(1, of.method);
  to.text(2, of.pathTemplate);
};

/** A question. @typedef {Sources | Make | Ask | Resume | Checked | IsOver | NextCall | Called | Warm | Revoke | Forget | ReadSecrets | Status | CheckEngine | CheckRoutes | Drop | Body | Reload | UseLedger | Hold | Held | Waited | Ended | NextLedgerCall | LedgerCalled | CheckAmounts | ReadResponse | ResponseBegins | ResponsePiece | Visible} Question */

/** Writes a question. @type {Put<Question>} */
const write = (to, question) => {
  const start = to.open(question.number);
  switch (question.number) {
    case 1:
      putSources(to, question);
      break;
    case 2:
      putMake(to, question);
      break;
    case 3:
      putAsk(to, question);
      break;
    case 4:
      putResume(to, question);
      break;
    case 5:
      putChecked(to, question);
      break;
    case 6:
      putIsOver(to, question);
      break;
    case 7:
      putNextCall(to, question);
      break;
    case 8:
      putCalled(to, question);
      break;
    case 9:
      putWarm(to, question);
      break;
    case 10:
      putRevoke(to, question);
      break;
    case 11:
      putForget(to, question);
      break;
    case 12:
      putReadSecrets(to, question);
      break;
    case 15:
      putCheckRoutes(to, question);
      break;
    case 17:
      putBody(to, question);
      break;
    case 24:
      putReload(to, question);
      break;
    case 30:
      putUseLedger(to, question);
      break;
    case 31:
      putHold(to, question);
      break;
    case 32:
      putHeld(to, question);
      break;
    case 33:
      putWaited(to, question);
      break;
    case 34:
      putEnded(to, question);
      break;
    case 35:
      putNextLedgerCall(to, question);
      break;
    case 36:
      putLedgerCalled(to, question);
      break;
    case 37:
      putCheckAmounts(to, question);
      break;
    case 38:
      putReadResponse(to, question);
      break;
    case 39:
      putResponseBegins(to, question);
      break;
    case 40:
      putResponsePiece(to, question);
      break;
    case 44:
      putVisible(to, question);
      break;
  }
  to.close(start);
};

/** Texts that answer after answer has. */
const KEPT = {
  checkSignatureAlgorithm: new Kept(),
  checkSignatureKey: new Kept(),
  tokenScopes: new Kept(),
  tokenIssuer: new Kept(),
  tokenClient: new Kept(),
};

/**
 * The question is done.
 * @typedef {object} Done
 * @property {64} number
 * @property {string} notices What to log, one sentence on each line: of `NextCall`; of `CheckEngine` if nothing charges.
 * @property {string} levels The level of each line of `notices`, on a line of its own: `info`, `warning` or `error`.
 */

/** @type {Read<Done>} */
const readDone = (bytes, view, start, end) => {
  /** @type {Done} */
  const of = { number: 64, notices: "", levels: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case 1:
        if ((seen & 2) !== 0) {
          return null;
        }
        seen |= 2;
        of.notices = textAt(bytes, from, at);
        break;
      case 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.levels = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * A configuration or an option has errors.
 * @typedef {object} Failed
 * @property {65} number
 * @property {number} status The `OrbgateStatus` of the error.
 * @property {string} message All errors in one string, each on a line `line:column: message`.
 * @property {Diagnostic[]} diagnostics The errors that have a position, in the order of the file.
 */

/** @type {Read<Failed>} */
const readFailed = (bytes, view, start, end) => {
  /** @type {Failed} */
  const of = { number: 65, status: 0, message: "", diagnostics: [] };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.status = integerAt(view, from);
        break;
      case 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.message = textAt(bytes, from, at);
        break;
      case 3: {
        const part = readDiagnostic(bytes, view, from, at);
        if (part === null) {
          return null;
        }
        of.diagnostics.push(part);
        break;
      }
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The result of a request. Only an allow without `http_status` permits it.
 * @typedef {object} Answer
 * @property {66} number
 * @property {number} packed The decision, packed as with `ORBGATE_PACK_ABOUT`.
 * @property {number} httpStatus The status of the response to a denied request; 0 for an allow.
 * @property {boolean} preflight The request is allowed only as a preflight, so run only a handler of `OPTIONS`.
 * @property {string | null} wwwAuthenticate The `WWW-Authenticate` header of a denial.
 * @property {string | null} allow The `Allow` header of a denial.
 * @property {string} refused Why the token is rejected, such as `expired`, only for logs and counters.
 * @property {string | null} misrouted What the router chose instead of the allowed route; empty if it is unknown. Count it.
 * @property {string} publicTemplate The template of an allowed request that needs no token.
 * @property {string | null} audit With `with_audit`, a JSON line for an audit log, without a line feed.
 * @property {Token | null} token The verified token; absent without a valid token.
 * @property {boolean} mayCall `NextCall` might be answered by a call.
 * @property {Uint8Array | null} body The response's body, if it has one: JSON, such as the metadata of the resource at a 200.
 * @property {CallHeader[]} headers More headers of the response.
 * @property {number} retryAfter The seconds of its `Retry-After` header; 0 if it has none.
 */

/** @type {Read<Answer>} */
const readAnswer = (bytes, view, start, end) => {
  /** @type {Answer} */
  const of = { number: 66, packed: 0, httpStatus: 0, preflight: false, wwwAuthenticate: null, allow: null, refused: "", misrouted: null, publicTemplate: "", audit: null, token: null, mayCall: false, body: null, headers: [], retryAfter: 0 };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.packed = integerAt(view, from);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0 || size !== 8) {
          return null;
        }
        seen |= 4;
        of.httpStatus = integerAt(view, from);
        break;
      case CRITICAL | 3:
        if ((seen & 8) !== 0 || size !== 0) {
          return null;
        }
        seen |= 8;
        of.preflight = true;
        break;
      case 4:
        if ((seen & 16) !== 0) {
          return null;
        }
        seen |= 16;
        of.wwwAuthenticate = textAt(bytes, from, at);
        break;
      case 5:
        if ((seen & 32) !== 0) {
          return null;
        }
        seen |= 32;
        of.allow = textAt(bytes, from, at);
        break;
      case 6:
        if ((seen & 64) !== 0) {
          return null;
        }
        seen |= 64;
        of.refused = textAt(bytes, from, at);
        break;
      case 7:
        if ((seen & 128) !== 0) {
          return null;
        }
        seen |= 128;
        of.misrouted = textAt(bytes, from, at);
        break;
      case 8:
        if ((seen & 256) !== 0) {
          return null;
        }
        seen |= 256;
        of.publicTemplate = textAt(bytes, from, at);
        break;
      case 9:
        if ((seen & 512) !== 0) {
          return null;
        }
        seen |= 512;
        of.audit = textAt(bytes, from, at);
        break;
      case 10: {
        const part = readToken(bytes, view, from, at);
        if ((seen & 1024) !== 0 || part === null) {
          return null;
        }
        seen |= 1024;
        of.token = part;
        break;
      }
      case 11:
        if ((seen & 2048) !== 0 || size !== 0) {
          return null;
        }
        seen |= 2048;
        of.mayCall = true;
        break;
      case CRITICAL | 12:
        if ((seen & 4096) !== 0) {
          return null;
        }
        seen |= 4096;
        of.body = bytesAt(bytes, from, at);
        break;
      case 13: {
        const part = readCallHeader(bytes, view, from, at);
        if (part === null) {
          return null;
        }
        of.headers.push(part);
        break;
      }
      case 14:
        if ((seen & 16384) !== 0 || size !== 8) {
          return null;
        }
        seen |= 16384;
        of.retryAfter = integerAt(view, from);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The request needs keys, or an answer about its token. Send the calls of `NextCall`, wait until `IsOver` says so or `until_ms`, and resume.
 * @typedef {object} Wait
 * @property {67} number
 * @property {number} untilMs When the wait ends even without a report, on the monotonic clock.
 * @property {boolean} mayCall `NextCall` might be answered by a call.
 */

/** @type {Read<Wait>} */
const readWait = (bytes, view, start, end) => {
  /** @type {Wait} */
  const of = { number: 67, untilMs: 0, mayCall: false };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.untilMs = integerAt(view, from);
        break;
      case 2:
        if ((seen & 4) !== 0 || size !== 0) {
          return null;
        }
        seen |= 4;
        of.mayCall = true;
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * Report with `Checked` whether this signature is valid. The algorithm fits the key, and key and signature have a valid form and length.
 * @typedef {object} CheckSignature
 * @property {68} number
 * @property {string} algorithm The algorithm, such as `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt as long as its hash.
 * @property {string} key The key as a JWK with only its required members. Equal keys have equal strings. If it can't be imported, the signature is invalid.
 * @property {Uint8Array} token The token, whose first `signed` bytes are the signed ones.
 * @property {number} signed How many bytes of the token are signed.
 * @property {Uint8Array} signature The signature.
 * @property {boolean} mayCall `NextCall` might be answered by a call.
 */

/** @type {Read<CheckSignature>} */
const readCheckSignature = (bytes, view, start, end) => {
  /** @type {CheckSignature} */
  const of = { number: 68, algorithm: "", key: "", token: bytesAt(bytes, 0, 0), signed: 0, signature: bytesAt(bytes, 0, 0), mayCall: false };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0) {
          return null;
        }
        seen |= 2;
        of.algorithm = KEPT.checkSignatureAlgorithm.at(bytes, from, at);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.key = KEPT.checkSignatureKey.at(bytes, from, at);
        break;
      case CRITICAL | 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.token = bytesAt(bytes, from, at);
        break;
      case CRITICAL | 4:
        if ((seen & 16) !== 0 || size !== 8) {
          return null;
        }
        seen |= 16;
        of.signed = integerAt(view, from);
        break;
      case CRITICAL | 5:
        if ((seen & 32) !== 0) {
          return null;
        }
        seen |= 32;
        of.signature = bytesAt(bytes, from, at);
        break;
      case 6:
        if ((seen & 64) !== 0 || size !== 0) {
          return null;
        }
        seen |= 64;
        of.mayCall = true;
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * A call to make without following redirects. In any case, report the result with `Called`.
 * @typedef {object} Call
 * @property {69} number
 * @property {number} attempt The attempt that needs it.
 * @property {string} method Its method.
 * @property {string} url `https`, or a loopback address.
 * @property {CallHeader[]} headers Its headers. One of them can contain a secret, so don't log them.
 * @property {Uint8Array | null} body Its body, if it has one. It can contain a token, so don't log it.
 * @property {number} timeoutMs If the response hasn't arrived after this time, report `ORBGATE_FETCH_TIMEOUT`.
 * @property {number} maxBytes If the body is longer, stop reading and report `ORBGATE_FETCH_TOO_LARGE`.
 */

/** @type {Read<Call>} */
const readCall = (bytes, view, start, end) => {
  /** @type {Call} */
  const of = { number: 69, attempt: 0, method: "", url: "", headers: [], body: null, timeoutMs: 0, maxBytes: 0 };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.attempt = integerAt(view, from);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.method = textAt(bytes, from, at);
        break;
      case CRITICAL | 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.url = textAt(bytes, from, at);
        break;
      case CRITICAL | 4: {
        const part = readCallHeader(bytes, view, from, at);
        if (part === null) {
          return null;
        }
        of.headers.push(part);
        break;
      }
      case CRITICAL | 5:
        if ((seen & 32) !== 0) {
          return null;
        }
        seen |= 32;
        of.body = bytesAt(bytes, from, at);
        break;
      case CRITICAL | 6:
        if ((seen & 64) !== 0 || size !== 8) {
          return null;
        }
        seen |= 64;
        of.timeoutMs = integerAt(view, from);
        break;
      case CRITICAL | 7:
        if ((seen & 128) !== 0 || size !== 8) {
          return null;
        }
        seen |= 128;
        of.maxBytes = integerAt(view, from);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * Whether the wait of a step is over.
 * @typedef {object} Over
 * @property {70} number
 * @property {boolean} isOver The step can be resumed.
 */

/** @type {Read<Over>} */
const readOver = (bytes, view, start, end) => {
  /** @type {Over} */
  const of = { number: 70, isOver: false };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 0) {
          return null;
        }
        seen |= 2;
        of.isOver = true;
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * Where the secrets of a token configuration are, in the order of the issuers that have one.
 * @typedef {object} SecretSources
 * @property {71} number
 * @property {SecretSource[]} sources The sources.
 */

/** @type {Read<SecretSources>} */
const readSecretSources = (bytes, view, start, end) => {
  /** @type {SecretSources} */
  const of = { number: 71, sources: [] };
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1: {
        const part = readSecretSource(bytes, view, from, at);
        if (part === null) {
          return null;
        }
        of.sources.push(part);
        break;
      }
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The status of the keys at one moment.
 * @typedef {object} KeyStatus
 * @property {72} number
 * @property {IssuerStatus[]} issuers The issuers, in the order of the configuration.
 */

/** @type {Read<KeyStatus>} */
const readKeyStatus = (bytes, view, start, end) => {
  /** @type {KeyStatus} */
  const of = { number: 72, issuers: [] };
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case 1: {
        const part = readIssuerStatus(bytes, view, from, at);
        if (part === null) {
          return null;
        }
        of.issuers.push(part);
        break;
      }
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The differences between the routes of a service and of its policy; empty if they are the same.
 * @typedef {object} RouteDifferences
 * @property {73} number
 * @property {RouteDifference[]} differences First what the policy lacks, then what the service lacks.
 */

/** @type {Read<RouteDifferences>} */
const readRouteDifferences = (bytes, view, start, end) => {
  /** @type {RouteDifferences} */
  const of = { number: 73, differences: [] };
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1: {
        const part = readRouteDifference(bytes, view, from, at);
        if (part === null) {
          return null;
        }
        of.differences.push(part);
        break;
      }
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The request is for an MCP endpoint, and its token is valid. Read its body and ask with `Body`.
 * @typedef {object} ReadBody
 * @property {74} number
 * @property {number} mostBytes If the body is longer, stop reading and report `too_large`.
 * @property {boolean} mayCall `NextCall` might be answered by a call.
 * @property {number} mostHeld The most bytes of all bodies that the host holds; one without `Content-Length` counts as `most_bytes`. Without room, report `busy`.
 */

/** @type {Read<ReadBody>} */
const readReadBody = (bytes, view, start, end) => {
  /** @type {ReadBody} */
  const of = { number: 74, mostBytes: 0, mayCall: false, mostHeld: 0 };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.mostBytes = integerAt(view, from);
        break;
      case 2:
        if ((seen & 4) !== 0 || size !== 0) {
          return null;
        }
        seen |= 4;
        of.mayCall = true;
        break;
      case CRITICAL | 3:
        if ((seen & 8) !== 0 || size !== 8) {
          return null;
        }
        seen |= 8;
        of.mostHeld = integerAt(view, from);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * What became of a version of the policy. A first one with the engine's digest is active already.
 * @typedef {object} Loaded
 * @property {84} number
 * @property {boolean} isLoaded Make an engine of the same bytes and activate it. The secrets were read again.
 * @property {string} result The label of `orbgate_policy_loads_total`, such as `wider`; empty if nothing is counted.
 * @property {string} message What to log: the digest, or why the previous policy stays active.
 * @property {string} warning What to log as a warning, such as the changes for callers; empty if there is nothing.
 * @property {number} status The `OrbgateStatus` of a rejection; otherwise 0.
 * @property {Diagnostic[]} diagnostics The errors of a policy or a configuration that have a position.
 * @property {number} pauseMs With `interval_ms`, when to ask again.
 * @property {string} reason Why a version is rejected, for the language's error: each error on a line, with the file.
 */

/** @type {Read<Loaded>} */
const readLoaded = (bytes, view, start, end) => {
  /** @type {Loaded} */
  const of = { number: 84, isLoaded: false, result: "", message: "", warning: "", status: 0, diagnostics: [], pauseMs: 0, reason: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 0) {
          return null;
        }
        seen |= 2;
        of.isLoaded = true;
        break;
      case 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.result = textAt(bytes, from, at);
        break;
      case 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.message = textAt(bytes, from, at);
        break;
      case 4:
        if ((seen & 16) !== 0) {
          return null;
        }
        seen |= 16;
        of.warning = textAt(bytes, from, at);
        break;
      case 5:
        if ((seen & 32) !== 0 || size !== 8) {
          return null;
        }
        seen |= 32;
        of.status = integerAt(view, from);
        break;
      case 6: {
        const part = readDiagnostic(bytes, view, from, at);
        if (part === null) {
          return null;
        }
        of.diagnostics.push(part);
        break;
      }
      case 7:
        if ((seen & 128) !== 0 || size !== 8) {
          return null;
        }
        seen |= 128;
        of.pauseMs = integerAt(view, from);
        break;
      case 8:
        if ((seen & 256) !== 0) {
          return null;
        }
        seen |= 256;
        of.reason = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The call is allowed and consumes orbs: before its handler runs, ask the ledger's step with `Hold`.
 * @typedef {object} Charge
 * @property {90} number
 * @property {Uint8Array} account The account.
 * @property {number} amount How many orbs.
 * @property {boolean} bonus Bonus orbs may be used.
 * @property {Uint8Array} note What the service notes: the route and the policy's digest.
 * @property {Uint8Array} mcpId If it isn't empty, the response of an MCP endpoint settles it: ask with `ReadResponse`.
 * @property {boolean} mcpLegacy Its protocol version is an older one.
 * @property {string | null} audit With `with_audit`, the audit's line once the orbs are held, instead of the answer's.
 * @property {string} holdId The id of the hold in the ledger, for the service's own log.
 */

/** @type {Read<Charge>} */
const readCharge = (bytes, view, start, end) => {
  /** @type {Charge} */
  const of = { number: 90, account: bytesAt(bytes, 0, 0), amount: 0, bonus: false, note: bytesAt(bytes, 0, 0), mcpId: bytesAt(bytes, 0, 0), mcpLegacy: false, audit: null, holdId: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0) {
          return null;
        }
        seen |= 2;
        of.account = bytesAt(bytes, from, at);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0 || size !== 8) {
          return null;
        }
        seen |= 4;
        of.amount = integerAt(view, from);
        break;
      case CRITICAL | 3:
        if ((seen & 8) !== 0 || size !== 0) {
          return null;
        }
        seen |= 8;
        of.bonus = true;
        break;
      case CRITICAL | 4:
        if ((seen & 16) !== 0) {
          return null;
        }
        seen |= 16;
        of.note = bytesAt(bytes, from, at);
        break;
      case CRITICAL | 5:
        if ((seen & 32) !== 0) {
          return null;
        }
        seen |= 32;
        of.mcpId = bytesAt(bytes, from, at);
        break;
      case CRITICAL | 6:
        if ((seen & 64) !== 0 || size !== 0) {
          return null;
        }
        seen |= 64;
        of.mcpLegacy = true;
        break;
      case 7:
        if ((seen & 128) !== 0) {
          return null;
        }
        seen |= 128;
        of.audit = textAt(bytes, from, at);
        break;
      case 8:
        if ((seen & 256) !== 0) {
          return null;
        }
        seen |= 256;
        of.holdId = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * What a request that waits for its orbs must do next.
 * @typedef {object} HoldStep
 * @property {91} number
 * @property {boolean} mayRun The orbs are held: run the handler.
 * @property {string} path If it isn't empty, POST to this path with the secret as bearer token, and report `Held`.
 * @property {Uint8Array} body Its body, which is JSON.
 * @property {number} timeoutMs After this time the call has failed.
 * @property {number} untilMs If it isn't 0, wait until this monotonic time and ask with `Waited`. Otherwise deny.
 * @property {number} unpaid Of a denial: for `unpaid` of `Ask`.
 * @property {number} retryAfterMs Of a denial: for `Ask`.
 * @property {string} result At the end, the label of `orbgate_holds_total`.
 */

/** @type {Read<HoldStep>} */
const readHoldStep = (bytes, view, start, end) => {
  /** @type {HoldStep} */
  const of = { number: 91, mayRun: false, path: "", body: bytesAt(bytes, 0, 0), timeoutMs: 0, untilMs: 0, unpaid: 0, retryAfterMs: 0, result: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 0) {
          return null;
        }
        seen |= 2;
        of.mayRun = true;
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.path = textAt(bytes, from, at);
        break;
      case CRITICAL | 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.body = bytesAt(bytes, from, at);
        break;
      case CRITICAL | 4:
        if ((seen & 16) !== 0 || size !== 8) {
          return null;
        }
        seen |= 16;
        of.timeoutMs = integerAt(view, from);
        break;
      case CRITICAL | 5:
        if ((seen & 32) !== 0 || size !== 8) {
          return null;
        }
        seen |= 32;
        of.untilMs = integerAt(view, from);
        break;
      case 6:
        if ((seen & 64) !== 0 || size !== 8) {
          return null;
        }
        seen |= 64;
        of.unpaid = integerAt(view, from);
        break;
      case 7:
        if ((seen & 128) !== 0 || size !== 8) {
          return null;
        }
        seen |= 128;
        of.retryAfterMs = integerAt(view, from);
        break;
      case 8:
        if ((seen & 256) !== 0) {
          return null;
        }
        seen |= 256;
        of.result = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The next message to the service. Report it with `LedgerCalled`.
 * @typedef {object} LedgerCall
 * @property {92} number
 * @property {number} call Its number.
 * @property {string} path Its path. By POST, like that of `HoldStep`.
 * @property {Uint8Array} body Its body.
 * @property {number} timeoutMs After this time the call has failed.
 */

/** @type {Read<LedgerCall>} */
const readLedgerCall = (bytes, view, start, end) => {
  /** @type {LedgerCall} */
  const of = { number: 92, call: 0, path: "", body: bytesAt(bytes, 0, 0), timeoutMs: 0 };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.call = integerAt(view, from);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.path = textAt(bytes, from, at);
        break;
      case CRITICAL | 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.body = bytesAt(bytes, from, at);
        break;
      case CRITICAL | 4:
        if ((seen & 16) !== 0 || size !== 8) {
          return null;
        }
        seen |= 16;
        of.timeoutMs = integerAt(view, from);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The state of a ledger's step.
 * @typedef {object} Ledgered
 * @property {93} number
 * @property {boolean} wakes Ask with `NextLedgerCall` at `wake_ms`; otherwise only after a report.
 * @property {number} wakeMs On the monotonic clock.
 * @property {number} waiting How many settlements wait for the service.
 * @property {number} captured How many calls were charged so far.
 * @property {number} voided How many holds were released.
 * @property {number} lost How many settlements were given up.
 */

/** @type {Read<Ledgered>} */
const readLedgered = (bytes, view, start, end) => {
  /** @type {Ledgered} */
  const of = { number: 93, wakes: false, wakeMs: 0, waiting: 0, captured: 0, voided: 0, lost: 0 };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 0) {
          return null;
        }
        seen |= 2;
        of.wakes = true;
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0 || size !== 8) {
          return null;
        }
        seen |= 4;
        of.wakeMs = integerAt(view, from);
        break;
      case 3:
        if ((seen & 8) !== 0 || size !== 8) {
          return null;
        }
        seen |= 8;
        of.waiting = integerAt(view, from);
        break;
      case 4:
        if ((seen & 16) !== 0 || size !== 8) {
          return null;
        }
        seen |= 16;
        of.captured = integerAt(view, from);
        break;
      case 5:
        if ((seen & 32) !== 0 || size !== 8) {
          return null;
        }
        seen |= 32;
        of.voided = integerAt(view, from);
        break;
      case 6:
        if ((seen & 64) !== 0 || size !== 8) {
          return null;
        }
        seen |= 64;
        of.lost = integerAt(view, from);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * What a response has said so far.
 * @typedef {object} Responded
 * @property {94} number
 * @property {boolean} reads The next piece must be read; otherwise none.
 * @property {number} end For `response` of `Ended`.
 */

/** @type {Read<Responded>} */
const readResponded = (bytes, view, start, end) => {
  /** @type {Responded} */
  const of = { number: 94, reads: false, end: 0 };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 0) {
          return null;
        }
        seen |= 2;
        of.reads = true;
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0 || size !== 8) {
          return null;
        }
        seen |= 4;
        of.end = integerAt(view, from);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The names that the token may pass, in their order.
 * @typedef {object} VisibleNames
 * @property {98} number
 * @property {string} names The names, one on each line.
 */

/** @type {Read<VisibleNames>} */
const readVisibleNames = (bytes, view, start, end) => {
  /** @type {VisibleNames} */
  const of = { number: 98, names: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0) {
          return null;
        }
        seen |= 2;
        of.names = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * An error of a configuration.
 * @typedef {object} Diagnostic
 * @property {number} line Line, from 1.
 * @property {number} column Column in characters, from 1.
 * @property {string} message The message: lower case, no final period, without the position.
 */

/** @type {Read<Diagnostic>} */
const readDiagnostic = (bytes, view, start, end) => {
  /** @type {Diagnostic} */
  const of = { line: 0, column: 0, message: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.line = integerAt(view, from);
        break;
      case 2:
        if ((seen & 4) !== 0 || size !== 8) {
          return null;
        }
        seen |= 4;
        of.column = integerAt(view, from);
        break;
      case 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.message = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * A verified token.
 * @typedef {object} Token
 * @property {number} kind Its kind: an `OrbgateTokenKind`.
 * @property {string} scopes Its scopes, separated by single spaces.
 * @property {string} issuer The issuer.
 * @property {string} subject The subject (`sub`); empty if the token doesn't state it.
 * @property {string} client The client that the token was issued to; empty if the token doesn't state it.
 * @property {string} actor The party that acts for the subject (`act`); empty if the token doesn't state it.
 * @property {string} id The token's own id (`jti`); empty if the token doesn't state it.
 * @property {string} fingerprint An id that reveals nothing about the token: 16 hexadecimal digits.
 * @property {number} expiresMs When the token expires: in milliseconds since 1970.
 */

/** @type {Read<Token>} */
const readToken = (bytes, view, start, end) => {
  /** @type {Token} */
  const of = { kind: 0, scopes: "", issuer: "", subject: "", client: "", actor: "", id: "", fingerprint: "", expiresMs: 0 };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.kind = integerAt(view, from);
        break;
      case 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.scopes = KEPT.tokenScopes.at(bytes, from, at);
        break;
      case 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.issuer = KEPT.tokenIssuer.at(bytes, from, at);
        break;
      case 4:
        if ((seen & 16) !== 0) {
          return null;
        }
        seen |= 16;
        of.subject = textAt(bytes, from, at);
        break;
      case 5:
        if ((seen & 32) !== 0) {
          return null;
        }
        seen |= 32;
        of.client = KEPT.tokenClient.at(bytes, from, at);
        break;
      case 6:
        if ((seen & 64) !== 0) {
          return null;
        }
        seen |= 64;
        of.actor = textAt(bytes, from, at);
        break;
      case 7:
        if ((seen & 128) !== 0) {
          return null;
        }
        seen |= 128;
        of.id = textAt(bytes, from, at);
        break;
      case 8:
        if ((seen & 256) !== 0) {
          return null;
        }
        seen |= 256;
        of.fingerprint = textAt(bytes, from, at);
        break;
      case 9:
        if ((seen & 512) !== 0 || size !== 8) {
          return null;
        }
        seen |= 512;
        of.expiresMs = integerAt(view, from);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * A header line of a call.
 * @typedef {object} CallHeader
 * @property {string} name Its name.
 * @property {string} value Its value.
 */

/** @type {Read<CallHeader>} */
const readCallHeader = (bytes, view, start, end) => {
  /** @type {CallHeader} */
  const of = { name: "", value: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0) {
          return null;
        }
        seen |= 2;
        of.name = textAt(bytes, from, at);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.value = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * Where a secret is. A configuration never contains the secret.
 * @typedef {object} SecretSource
 * @property {number} kind An `ORBGATE_SECRET_*` number.
 * @property {string} name The path of the file, or the name of the variable.
 */

/** @type {Read<SecretSource>} */
const readSecretSource = (bytes, view, start, end) => {
  /** @type {SecretSource} */
  const of = { kind: 0, name: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.kind = integerAt(view, from);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.name = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * The status of one issuer's keys.
 * @typedef {object} IssuerStatus
 * @property {string} issuer The issuer.
 * @property {number} keyCount The number of usable keys. At 0, every token is rejected unless `opaque` is true.
 * @property {number} fetchedMs When the keys were fetched, on the monotonic clock; 0 if there aren't any.
 * @property {string} failure Why the last attempt failed; empty if it succeeded.
 * @property {string} warnings The keys that were left out, with the reasons: one line for each.
 * @property {boolean} opaque The issuer's tokens are opaque: `failure` is that of its introspection endpoint.
 */

/** @type {Read<IssuerStatus>} */
const readIssuerStatus = (bytes, view, start, end) => {
  /** @type {IssuerStatus} */
  const of = { issuer: "", keyCount: 0, fetchedMs: 0, failure: "", warnings: "", opaque: false };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case 1:
        if ((seen & 2) !== 0) {
          return null;
        }
        seen |= 2;
        of.issuer = textAt(bytes, from, at);
        break;
      case 2:
        if ((seen & 4) !== 0 || size !== 8) {
          return null;
        }
        seen |= 4;
        of.keyCount = integerAt(view, from);
        break;
      case 3:
        if ((seen & 8) !== 0 || size !== 8) {
          return null;
        }
        seen |= 8;
        of.fetchedMs = integerAt(view, from);
        break;
      case 4:
        if ((seen & 16) !== 0) {
          return null;
        }
        seen |= 16;
        of.failure = textAt(bytes, from, at);
        break;
      case 5:
        if ((seen & 32) !== 0) {
          return null;
        }
        seen |= 32;
        of.warnings = textAt(bytes, from, at);
        break;
      case 6:
        if ((seen & 64) !== 0 || size !== 0) {
          return null;
        }
        seen |= 64;
        of.opaque = true;
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/**
 * A route that only the service or only the policy has.
 * @typedef {object} RouteDifference
 * @property {number} kind An `ORBGATE_DIFFERENCE_*` number.
 * @property {string} route The route, for example `GET /users/export`.
 * @property {string} decidedAs The policy's route that decides an undeclared one; empty if it is denied.
 */

/** @type {Read<RouteDifference>} */
const readRouteDifference = (bytes, view, start, end) => {
  /** @type {RouteDifference} */
  const of = { kind: 0, route: "", decidedAs: "" };
  let seen = 0;
  for (let at = start; at < end;) {
    const size = sizeAt(view, at, end);
    if (size < 0) {
      return null;
    }
    const tag = view.getInt32(at, true);
    const from = at + HEAD;
    at = from + size;
    switch (tag) {
      case CRITICAL | 1:
        if ((seen & 2) !== 0 || size !== 8) {
          return null;
        }
        seen |= 2;
        of.kind = integerAt(view, from);
        break;
      case CRITICAL | 2:
        if ((seen & 4) !== 0) {
          return null;
        }
        seen |= 4;
        of.route = textAt(bytes, from, at);
        break;
      case 3:
        if ((seen & 8) !== 0) {
          return null;
        }
        seen |= 8;
        of.decidedAs = textAt(bytes, from, at);
        break;
      default:
        if (tag < 0) {
          return null;
        }
    }
  }
  return of;
};

/** An answer. @typedef {Done | Failed | Answer | Wait | CheckSignature | Call | Over | SecretSources | KeyStatus | RouteDifferences | ReadBody | Loaded | Charge | HoldStep | LedgerCall | Ledgered | Responded | VisibleNames} Reply */

/** Reads an answer; `null` if it isn't one, or if it has something unknown and critical. @type {Read<Reply>} */
const read = (bytes, view, start, end) => {
  const size = sizeAt(view, start, end);
  const from = start + HEAD;
  if (size < 0 || from + size !== end) {
    return null;
  }
  switch (view.getInt32(start, true)) {
    case 64:
      return readDone(bytes, view, from, end);
    case 65:
      return readFailed(bytes, view, from, end);
    case 66:
      return readAnswer(bytes, view, from, end);
    case 67:
      return readWait(bytes, view, from, end);
    case 68:
      return readCheckSignature(bytes, view, from, end);
    case 69:
      return readCall(bytes, view, from, end);
    case 70:
      return readOver(bytes, view, from, end);
    case 71:
      return readSecretSources(bytes, view, from, end);
    case 72:
      return readKeyStatus(bytes, view, from, end);
    case 73:
      return readRouteDifferences(bytes, view, from, end);
    case 74:
      return readReadBody(bytes, view, from, end);
    case 84:
      return readLoaded(bytes, view, from, end);
    case 90:
      return readCharge(bytes, view, from, end);
    case 91:
      return readHoldStep(bytes, view, from, end);
    case 92:
      return readLedgerCall(bytes, view, from, end);
    case 93:
      return readLedgered(bytes, view, from, end);
    case 94:
      return readResponded(bytes, view, from, end);
    case 98:
      return readVisibleNames(bytes, view, from, end);
    default:
      return null;
  }
};

module.exports = { MESSAGES, read, write };
