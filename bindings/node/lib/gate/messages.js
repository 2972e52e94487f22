"use strict";
// The messages of gates: see docs/messages.md. Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.
const { Message, bytes, critical, flag, given, integer, kept, messages, nullable, optional, part, parts, string, text, texts } = require("./fields.js");

/** @template M @typedef {import("./fields.js").Given<M>} Given */
/** @template M @typedef {import("./fields.js").Made<M>} Made */
/** @template M @typedef {import("./fields.js").Part<M>} Part */

const SecretPart = new Message(0, {
  value: optional(1),
});

const HeaderPart = new Message(0, {
  name: text(1),
  value: text(2),
});

const ServiceRoutePart = new Message(0, {
  method: text(1),
  pathTemplate: text(2),
});

const DiagnosticPart = new Message(0, {
  line: integer(1),
  column: integer(2),
  message: string(3),
});

const TokenPart = new Message(0, {
  kind: integer(1),
  scopes: kept(2),
  issuer: kept(3),
  subject: string(4),
  client: kept(5),
  actor: string(6),
  id: string(7),
  fingerprint: string(8),
  expiresMs: integer(9),
});

const CallHeaderPart = new Message(0, {
  name: critical(string(1)),
  value: critical(string(2)),
});

const SecretSourcePart = new Message(0, {
  kind: critical(integer(1)),
  name: critical(string(2)),
});

const IssuerStatusPart = new Message(0, {
  issuer: string(1),
  keyCount: integer(2),
  fetchedMs: integer(3),
  failure: string(4),
  warnings: string(5),
  opaque: flag(6),
});

const RouteDifferencePart = new Message(0, {
  kind: critical(integer(1)),
  route: critical(string(2)),
  decidedAs: string(3),
});

const QUESTIONS = {
  SOURCES: new Message(1, {
    tokens: text(1),
  }),
  MAKE: new Message(2, {
    tokens: text(1),
    flat403: flag(2),
    ignoreMethodOverride: flag(3),
    signaturesOutside: flag(4),
    noStaleKeys: flag(5),
    introspection: flag(6),
    challenge: integer(7),
    templates: integer(8),
    corsPreflight: integer(9),
    realm: text(10),
    resourceMetadata: text(11),
    ttlMs: integer(12),
    ttlMinMs: integer(13),
    ttlMaxMs: integer(14),
    aheadPercent: integer(15),
    maxStaleMs: integer(16),
    cooldownMs: integer(17),
    burst: integer(18),
    retryMs: integer(19),
    timeoutMs: integer(20),
    publicRoutes: texts(21),
    secrets: given(22, SecretPart),
    mcp: text(23),
    mcpInitialScopes: text(24),
    mcpMostBytes: integer(25),
    mcpDenyLegacy: flag(26),
    metadata: text(27),
    mcpOrigins: texts(28),
    mcpChargeSessions: flag(29),
    proofs: flag(30),
  }),
  ASK: new Message(3, {
    method: text(1),
    target: text(2),
    authorization: texts(3),
    headerNames: texts(4),
    upgrade: texts(5),
    origin: texts(6),
    accessControlRequestMethod: texts(7),
    matched: integer(8),
    pathTemplate: text(9),
    allowBonusOrbs: flag(10),
    withAudit: flag(11),
    holdsThread: flag(12),
    unixMs: integer(13),
    monotonicMs: integer(14),
    readsBonusOrbs: flag(15),
    dpop: texts(16),
    certificate: text(17),
    repeats: flag(18),
    charges: flag(20),
    hasAmount: flag(21),
    amount: integer(22),
    unpaid: integer(23),
    retryAfterMs: integer(24),
    amountFailed: flag(25),
    keeps: flag(26),
    again: flag(27),
    hold: text(28),
    accessControlRequestHeaders: texts(29),
  }),
  RESUME: new Message(4, {
    unixMs: integer(1),
    monotonicMs: integer(2),
  }),
  CHECKED: new Message(5, {
    isRight: flag(1),
    tokenHash: integer(2),
    unixMs: integer(3),
    monotonicMs: integer(4),
  }),
  IS_OVER: new Message(6, {
    monotonicMs: integer(1),
  }),
  NEXT_CALL: new Message(7, {
    monotonicMs: integer(1),
  }),
  CALLED: new Message(8, {
    attempt: integer(1),
    failure: integer(2),
    status: integer(3),
    headers: given(4, HeaderPart),
    body: text(5),
    monotonicMs: integer(6),
  }),
  WARM: new Message(9, {
    monotonicMs: integer(1),
  }),
  REVOKE: new Message(10, {
    issuer: text(1),
    kid: text(2),
  }),
  FORGET: new Message(11, {
    issuer: text(1),
  }),
  READ_SECRETS: new Message(12, {
    secrets: given(1, SecretPart),
  }),
  STATUS: new Message(13, {}),
  CHECK_ENGINE: new Message(14, {}),
  CHECK_ROUTES: new Message(15, {
    routes: given(1, ServiceRoutePart),
    templates: integer(2),
  }),
  DROP: new Message(16, {}),
  BODY: new Message(17, {
    body: text(1),
    tooLarge: flag(2),
    headers: given(3, HeaderPart),
    unixMs: integer(4),
    busy: flag(5),
    unreadable: flag(6),
  }),
  RELOAD: new Message(24, {
    policy: text(1),
    failure: text(2),
    requireSeal: flag(3),
    refuseWider: flag(4),
    secrets: given(5, SecretPart),
    intervalMs: integer(6),
    isTold: flag(7),
    monotonicMs: integer(8),
    file: text(9),
    secretsFailure: text(10),
    hasLedger: flag(11),
    amounts: texts(12),
  }),
  USE_LEDGER: new Message(30, {
    capturesCancelled: flag(1),
    ttlMs: integer(2),
    timeoutMs: integer(3),
    queue: integer(4),
    voidsCancelled: flag(5),
    capturesToolErrors: flag(6),
    voidsToolErrors: flag(7),
    capturesInputRequired: flag(8),
    voidsInputRequired: flag(9),
    capturesBroken: flag(10),
    voidsBroken: flag(11),
    ceiling: integer(12),
  }),
  HOLD: new Message(31, {
    id: text(1),
    account: text(2),
    amount: integer(3),
    bonus: flag(4),
    note: text(5),
    monotonicMs: integer(6),
  }),
  HELD: new Message(32, {
    id: text(1),
    status: integer(2),
    body: text(3),
    unixMs: integer(4),
    monotonicMs: integer(5),
  }),
  WAITED: new Message(33, {
    id: text(1),
    monotonicMs: integer(2),
  }),
  ENDED: new Message(34, {
    id: text(1),
    cancelled: flag(2),
    status: integer(3),
    isStated: flag(4),
    stated: integer(5),
    monotonicMs: integer(6),
    neverRan: flag(7),
    response: integer(8),
    broken: flag(9),
  }),
  NEXT_LEDGER_CALL: new Message(35, {
    monotonicMs: integer(1),
  }),
  LEDGER_CALLED: new Message(36, {
    call: integer(1),
    status: integer(2),
    body: text(3),
    monotonicMs: integer(4),
  }),
  LEDGER_REPLIED: new Message(45, {
    url: text(1),
    status: integer(2),
    body: text(3),
    failure: text(4),
  }),
  CHECK_LEDGER: new Message(46, {
    url: text(1),
    secret: text(2),
  }),
  CHECK_AMOUNTS: new Message(37, {
    functions: texts(1),
  }),
  READ_RESPONSE: new Message(38, {
    mcpId: text(1),
    mcpLegacy: flag(2),
    mcpSession: flag(3),
  }),
  RESPONSE_BEGINS: new Message(39, {
    headers: given(1, HeaderPart),
  }),
  RESPONSE_PIECE: new Message(40, {
    piece: text(1),
  }),
  VISIBLE: new Message(44, {
    kind: integer(1),
    scopes: text(2),
    method: text(3),
    names: texts(4),
  }),
};

const ANSWERS = {
  DONE: new Message(64, {
    notices: string(1),
    levels: string(2),
  }),
  FAILED: new Message(65, {
    status: critical(integer(1)),
    message: string(2),
    diagnostics: parts(3, DiagnosticPart),
  }),
  ANSWER: new Message(66, {
    packed: critical(integer(1)),
    httpStatus: critical(integer(2)),
    preflight: critical(flag(3)),
    wwwAuthenticate: nullable(string(4)),
    allow: nullable(string(5)),
    refused: string(6),
    misrouted: nullable(string(7)),
    publicTemplate: string(8),
    audit: nullable(string(9)),
    token: nullable(part(10, TokenPart)),
    mayCall: flag(11),
    body: critical(nullable(bytes(12))),
    headers: parts(13, CallHeaderPart),
    retryAfter: integer(14),
  }),
  WAIT: new Message(67, {
    untilMs: critical(integer(1)),
    mayCall: flag(2),
  }),
  CHECK_SIGNATURE: new Message(68, {
    algorithm: critical(kept(1)),
    key: critical(kept(2)),
    token: critical(bytes(3)),
    signed: critical(integer(4)),
    signature: critical(bytes(5)),
    mayCall: flag(6),
  }),
  CALL: new Message(69, {
    attempt: critical(integer(1)),
    method: critical(string(2)),
    url: critical(string(3)),
    headers: critical(parts(4, CallHeaderPart)),
    body: critical(nullable(bytes(5))),
    timeoutMs: critical(integer(6)),
    maxBytes: critical(integer(7)),
  }),
  OVER: new Message(70, {
    isOver: critical(flag(1)),
  }),
  SECRET_SOURCES: new Message(71, {
    sources: critical(parts(1, SecretSourcePart)),
  }),
  KEY_STATUS: new Message(72, {
    issuers: parts(1, IssuerStatusPart),
  }),
  ROUTE_DIFFERENCES: new Message(73, {
    differences: critical(parts(1, RouteDifferencePart)),
  }),
  READ_BODY: new Message(74, {
    mostBytes: critical(integer(1)),
    mayCall: flag(2),
    mostHeld: critical(integer(3)),
  }),
  LOADED: new Message(84, {
    isLoaded: critical(flag(1)),
    result: string(2),
    message: string(3),
    warning: string(4),
    status: integer(5),
    diagnostics: parts(6, DiagnosticPart),
    pauseMs: integer(7),
    reason: string(8),
  }),
  CHARGE: new Message(90, {
    account: critical(bytes(1)),
    amount: critical(integer(2)),
    bonus: critical(flag(3)),
    note: critical(bytes(4)),
    mcpId: critical(bytes(5)),
    mcpLegacy: critical(flag(6)),
    audit: nullable(string(7)),
    holdId: string(8),
    mcpSession: critical(flag(9)),
  }),
  HOLD_STEP: new Message(91, {
    mayRun: critical(flag(1)),
    path: critical(string(2)),
    body: critical(bytes(3)),
    timeoutMs: critical(integer(4)),
    untilMs: critical(integer(5)),
    unpaid: integer(6),
    retryAfterMs: integer(7),
    result: string(8),
  }),
  LEDGER_CALL: new Message(92, {
    call: critical(integer(1)),
    path: critical(string(2)),
    body: critical(bytes(3)),
    timeoutMs: critical(integer(4)),
  }),
  LEDGERED: new Message(93, {
    wakes: critical(flag(1)),
    wakeMs: critical(integer(2)),
    waiting: integer(3),
    captured: integer(4),
    voided: integer(5),
    lost: integer(6),
    over: integer(7),
    notice: string(8),
  }),
  RESPONDED: new Message(94, {
    reads: critical(flag(1)),
    end: critical(integer(2)),
  }),
  VISIBLE_NAMES: new Message(98, {
    names: critical(string(1)),
  }),
  LEDGER_AT: new Message(99, {
    base: critical(string(1)),
    socket: critical(string(2)),
    secret: critical(string(3)),
    mostBytes: critical(integer(4)),
  }),
};

/** @typedef {Part<Given<typeof SecretPart>>} Secret */
/** @typedef {Part<Given<typeof HeaderPart>>} Header */
/** @typedef {Part<Given<typeof ServiceRoutePart>>} ServiceRoute */
/** @typedef {Part<Made<typeof DiagnosticPart>>} Diagnostic */
/** @typedef {Part<Made<typeof TokenPart>>} Token */
/** @typedef {Part<Made<typeof CallHeaderPart>>} CallHeader */
/** @typedef {Part<Made<typeof SecretSourcePart>>} SecretSource */
/** @typedef {Part<Made<typeof IssuerStatusPart>>} IssuerStatus */
/** @typedef {Part<Made<typeof RouteDifferencePart>>} RouteDifference */
/** @typedef {Given<typeof QUESTIONS.SOURCES>} Sources */
/** @typedef {Given<typeof QUESTIONS.MAKE>} Make */
/** @typedef {Given<typeof QUESTIONS.ASK>} Ask */
/** @typedef {Given<typeof QUESTIONS.RESUME>} Resume */
/** @typedef {Given<typeof QUESTIONS.CHECKED>} Checked */
/** @typedef {Given<typeof QUESTIONS.IS_OVER>} IsOver */
/** @typedef {Given<typeof QUESTIONS.NEXT_CALL>} NextCall */
/** @typedef {Given<typeof QUESTIONS.CALLED>} Called */
/** @typedef {Given<typeof QUESTIONS.WARM>} Warm */
/** @typedef {Given<typeof QUESTIONS.REVOKE>} Revoke */
/** @typedef {Given<typeof QUESTIONS.FORGET>} Forget */
/** @typedef {Given<typeof QUESTIONS.READ_SECRETS>} ReadSecrets */
/** @typedef {Given<typeof QUESTIONS.STATUS>} Status */
/** @typedef {Given<typeof QUESTIONS.CHECK_ENGINE>} CheckEngine */
/** @typedef {Given<typeof QUESTIONS.CHECK_ROUTES>} CheckRoutes */
/** @typedef {Given<typeof QUESTIONS.DROP>} Drop */
/** @typedef {Given<typeof QUESTIONS.BODY>} Body */
/** @typedef {Given<typeof QUESTIONS.RELOAD>} Reload */
/** @typedef {Given<typeof QUESTIONS.USE_LEDGER>} UseLedger */
/** @typedef {Given<typeof QUESTIONS.HOLD>} Hold */
/** @typedef {Given<typeof QUESTIONS.HELD>} Held */
/** @typedef {Given<typeof QUESTIONS.WAITED>} Waited */
/** @typedef {Given<typeof QUESTIONS.ENDED>} Ended */
/** @typedef {Given<typeof QUESTIONS.NEXT_LEDGER_CALL>} NextLedgerCall */
/** @typedef {Given<typeof QUESTIONS.LEDGER_CALLED>} LedgerCalled */
/** @typedef {Given<typeof QUESTIONS.LEDGER_REPLIED>} LedgerReplied */
/** @typedef {Given<typeof QUESTIONS.CHECK_LEDGER>} CheckLedger */
/** @typedef {Given<typeof QUESTIONS.CHECK_AMOUNTS>} CheckAmounts */
/** @typedef {Given<typeof QUESTIONS.READ_RESPONSE>} ReadResponse */
/** @typedef {Given<typeof QUESTIONS.RESPONSE_BEGINS>} ResponseBegins */
/** @typedef {Given<typeof QUESTIONS.RESPONSE_PIECE>} ResponsePiece */
/** @typedef {Given<typeof QUESTIONS.VISIBLE>} Visible */
/** @typedef {Made<typeof ANSWERS.DONE>} Done */
/** @typedef {Made<typeof ANSWERS.FAILED>} Failed */
/** @typedef {Made<typeof ANSWERS.ANSWER>} Answer */
/** @typedef {Made<typeof ANSWERS.WAIT>} Wait */
/** @typedef {Made<typeof ANSWERS.CHECK_SIGNATURE>} CheckSignature */
/** @typedef {Made<typeof ANSWERS.CALL>} Call */
/** @typedef {Made<typeof ANSWERS.OVER>} Over */
/** @typedef {Made<typeof ANSWERS.SECRET_SOURCES>} SecretSources */
/** @typedef {Made<typeof ANSWERS.KEY_STATUS>} KeyStatus */
/** @typedef {Made<typeof ANSWERS.ROUTE_DIFFERENCES>} RouteDifferences */
/** @typedef {Made<typeof ANSWERS.READ_BODY>} ReadBody */
/** @typedef {Made<typeof ANSWERS.LOADED>} Loaded */
/** @typedef {Made<typeof ANSWERS.CHARGE>} Charge */
/** @typedef {Made<typeof ANSWERS.HOLD_STEP>} HoldStep */
/** @typedef {Made<typeof ANSWERS.LEDGER_CALL>} LedgerCall */
/** @typedef {Made<typeof ANSWERS.LEDGERED>} Ledgered */
/** @typedef {Made<typeof ANSWERS.RESPONDED>} Responded */
/** @typedef {Made<typeof ANSWERS.VISIBLE_NAMES>} VisibleNames */
/** @typedef {Made<typeof ANSWERS.LEDGER_AT>} LedgerAt */

/** A question. @typedef {Given<typeof QUESTIONS[keyof typeof QUESTIONS]>} Question */
/** An answer. @typedef {Made<typeof ANSWERS[keyof typeof ANSWERS]>} Reply */

module.exports = messages(QUESTIONS, ANSWERS);
