import type { Allow, Charge, Decision, Engine, FileUrl, Handle, Text, TokenKind } from "./index.js";

/** Where a gate logs: `console`, or a logger of pino or Fastify. No message contains a token. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/**
 * Fetches the issuers' keys, with the signature of `fetch`, which is the default. With a body, it asks about an opaque token, which
 * must stay secret like the headers. Redirects are not followed.
 */
export type FetchKeys = (url: string, options: {
  redirect: "manual"; signal: any; headers: Record<string, string>; method: string; body?: string;
}) => PromiseLike<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: any;
}>;

export interface GateOptions {
  /**
   * The content of `WWW-Authenticate` on a denial. "minimal", the default: `Bearer`. "full": also the error and the
   * missing scope (RFC 6750). "none": no header, and every denial is a bare 403.
   */
  readonly challenge?: "minimal" | "full" | "none";
  /** The realm of a full challenge. */
  readonly realm?: string;
  /** The URL of the service's metadata in a full challenge (RFC 9728). */
  readonly resourceMetadata?: string;
  /** Every denial has the status 403, so that a caller cannot tell an unknown route from a missing scope. */
  readonly flat403?: boolean;
  /** Ignores headers that override the method. Only safe if nothing behind the gate follows such headers. */
  readonly ignoreMethodOverride?: boolean;
  /** Intervals and time limits of key fetches. */
  readonly keys?: {
    /** How long keys are fresh if the issuer sends no usable `Cache-Control`. The default is 600,000. */
    readonly ttlMs?: number;
    /** The shortest time that an issuer can set. The default is 60,000. */
    readonly ttlMinMs?: number;
    /** The longest time that an issuer can set. The default is 3,600,000. */
    readonly ttlMaxMs?: number;
    /** The part of that time after which a token starts a fetch without waiting for it. The default is 80. */
    readonly aheadPercent?: number;
    /** How long stale keys are used if new ones cannot be fetched. The default is 3,600,000. With 0, they are never used. */
    readonly maxStaleMs?: number;
    /** The time between two attempts. The default is 30,000. */
    readonly cooldownMs?: number;
    /** How many attempts tokens with unknown keys can start at once, and again in every cooldown. The default is 4. */
    readonly burst?: number;
    /** The time between two attempts while there are no keys. The default is 1,000. */
    readonly retryMs?: number;
    /** The time limit for one attempt. The default is 5,000. */
    readonly timeoutMs?: number;
  };
  /** Fetches keys and asks about opaque tokens, for example through a proxy. */
  readonly fetch?: FetchKeys;
  /**
   * Routes that need no token, written as in a policy but with the whole path: `["GET /healthz"]`. The constructor and
   * `reload` throw if a path matches both one of them and a route of the policy.
   */
  readonly public?: readonly string[];
  /**
   * "pass" allows CORS preflight requests (`OPTIONS`) without a token if the requested route is declared. Of the compared handlers, only
   * those that take no other method get them. The default is "deny".
   */
  readonly corsPreflight?: "deny" | "pass";
  /**
   * Increments a counter: `orbgate_decisions_total`, `orbgate_tokens_refused_total`, `orbgate_misrouted_total`,
   * `orbgate_policy_loads_total`, `orbgate_audit_lost_total` or one of a ledger. `PrometheusCounters` has such a function.
   */
  readonly count?: (name: string, labels: Readonly<Record<string, string>>) => void;
  /**
   * Receives one line of JSON for each decision, without a line break. Responses do not depend on hooks: the first failure of each
   * is logged.
   */
  readonly audit?: (line: string) => void;
  /** An endpoint of the Model Context Protocol, whose requests are decided by the operations in their bodies. */
  readonly mcp?: McpOptions;
  /**
   * The https URL of the protected resource. The gate serves its metadata (RFC 9728) without a token at
   * `/.well-known/oauth-protected-resource`, and the challenges of an MCP endpoint name it. It must be an audience of every issuer.
   */
  readonly resource?: string;
  /** No version of the policy is loaded that allows more than the active one, or for fewer orbs; `reload` throws. */
  readonly refuseWider?: boolean;
  /**
   * Holds the orbs of each call that consumes before its handler runs, and charges them if it succeeds. The constructor and `reload` throw while
   * a route that consumes has no amount.
   */
  readonly ledger?: Ledger;
  /**
   * A function for each route whose amount the policy does not state: of the headers and the token. 0 holds nothing; an error denies the call.
   * Name routes as the policy does.
   */
  readonly amounts?: Readonly<Record<string, (headers: Readonly<Record<string, string | string[] | undefined>>, token: VerifiedToken | null) => number>>;
  /**
   * The routes whose JSON body is read for `allowBonusOrbsUse`, each with the most bytes to read. The service still gets the whole body. A body
   * without `Content-Length` does not allow them.
   */
  readonly bonusFromBody?: Readonly<Record<string, number>>;
  /**
   * Logs why a call is denied: the answer of `engine.explain` as a line of JSON, without the query, or only the decision if a header or the
   * query causes the denial. It costs time for each denial. Responses don't contain it.
   */
  readonly debug?: boolean;
  /** The default is `console`: in Node, `info` is on standard output, and the rest on standard error. */
  readonly log?: Log;
}

/** In a policy, an operation is a route of the method `MCP`, such as `MCP /mcp/tools/call/refund`. */
export interface McpOptions {
  /** The endpoint's path, such as `/mcp`. */
  readonly path: string;
  /** The scopes that a client without a token should ask for, separated by spaces. The metadata lists them, too. */
  readonly initialScopes?: string;
  /** The length of the longest body, at most 8 MiB. The default is 4 MiB. */
  readonly mostBytes?: number;
  /** Denies requests of protocol versions whose headers don't repeat the body. */
  readonly denyLegacy?: boolean;
  /** Accepts calls in sessions that consume orbs from a ledger: each costs what is held, however it ends. By default, they are denied. */
  readonly chargeSessions?: boolean;
  /**
   * The origins whose pages may send requests and read the responses, such as `https://app.example`: the gate answers preflights, and replaces
   * the headers of CORS that the service has. The default is none.
   */
  readonly origins?: readonly string[];
}

/** What a host may read. */
export interface Room {
  readonly mostBytes: number;
  /** Takes room for so many bytes, and returns what gives it back; `null` if there is none. */
  take(bytes: number): (() => void) | null;
}

/** What an MCP endpoint reads of a request. */
export interface Message {
  /** Each header line, or at least those whose names start with `content` or `mcp`. */
  readonly headers: readonly (readonly [name: Text, value: Text])[];
  /** The whole body. */
  readonly body?: Uint8Array;
  /** Why there is none. */
  readonly fault?: "tooLarge" | "busy" | "unreadable";
  /** Called when the request is decided. */
  readonly release?: () => void;
}

/** A request as received over the wire: nothing is decoded, stripped or joined. */
export interface Question {
  readonly method: Text;
  /** Path and query. */
  readonly target: Text;
  /** Every value of `Authorization`, one element per header line. */
  readonly authorization: readonly Text[];
  /** Every value of `DPoP`, one element per header line. */
  readonly dpop?: readonly Text[];
  /** The certificate with which the client has authenticated its connection, in DER: see `tls.TLSSocket.getPeerX509Certificate`. */
  readonly certificate?: Uint8Array | undefined;
  /** Every value of `Upgrade`. A request that lists `h2c` is denied, because later requests on that connection would bypass the gate. */
  readonly upgrade: readonly Text[];
  /** Every value of `Origin`. */
  readonly origin?: readonly Text[];
  /** Every value of `Access-Control-Request-Method`. */
  readonly accessControlRequestMethod?: readonly Text[];
  /** Every value of `Access-Control-Request-Headers`, for an MCP endpoint. */
  readonly accessControlRequestHeaders?: readonly Text[];
  /** The names of all headers, or at least of those that contain `method`, because some override the method. */
  readonly headerNames: readonly string[];
  /**
   * The template that the router has chosen, for example `/users/:id`; `null` if it doesn't expose one. If it differs from the
   * decided route, the request is denied.
   */
  readonly template?: string | null;
  /**
   * Reads the body of a request to an MCP endpoint, whose token is valid. The service must still get the same bytes. Without it, such a
   * request is denied.
   */
  readonly message?: (room: Room) => PromiseLike<Message>;
}

/** The content of a verified token. The token itself is not kept. */
export interface VerifiedToken {
  // cargo xtask codes: token
  /** Its kind. */
  readonly kind: TokenKind;
  /** Its scopes, separated by single spaces. */
  readonly scopes: string;
  /** The issuer. */
  readonly issuer: string;
  /** The subject (`sub`); `null` if the token doesn't state it. */
  readonly subject: string | null;
  /** The client that the token was issued to; `null` if the token doesn't state it. */
  readonly client: string | null;
  /** The party that acts for the subject (`act`); `null` if the token doesn't state it. */
  readonly actor: string | null;
  /** The token's own id (`jti`); `null` if the token doesn't state it. */
  readonly id: string | null;
  /** An id that reveals nothing about the token: 16 hexadecimal digits. */
  readonly fingerprint: string;
  /** When the token expires: in milliseconds since 1970. */
  readonly expiresMs: number;
  // end of token
}

/** The answer to a question. */
export interface Answer {
  readonly isAllow: boolean;
  readonly decision: Decision;
  /** The status of a denial; `null` if allowed. */
  readonly httpStatus: number | null;
  /**
   * The headers of a denial: `cache-control`, and perhaps `www-authenticate`, `allow` and others. Of an allow: what the response must have in
   * place of the service's headers that begin with `access-control-`.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a denial at an MCP endpoint, or the metadata of the protected resource; otherwise `null`. */
  readonly body: Uint8Array | null;
  readonly token: VerifiedToken | null;
  // cargo xtask codes: answer
  /** The request is allowed only as a preflight, so run only a handler of `OPTIONS`. */
  readonly preflight: boolean;
  /** Why the token is rejected, such as `expired`, only for logs and counters. */
  readonly refused: string | null;
  /** What the router chose instead of the allowed route; empty if it is unknown. Count it. */
  readonly misrouted: string | null;
  /** The template of an allowed request that needs no token. */
  readonly publicTemplate: string | null;
  // end of answer
}

/** The state of an issuer's keys. */
export interface IssuerStatus {
  // cargo xtask codes: issuer
  /** The issuer. */
  readonly issuer: string;
  /** The number of usable keys. At 0, every token is rejected unless `opaque` is true. */
  readonly keyCount: number;
  /** Why the last attempt failed; `null` if it succeeded. */
  readonly failure: string | null;
  /** The issuer's tokens are opaque: `failure` is that of its introspection endpoint. */
  readonly opaque: boolean;
  // end of issuer
  /** The time since the keys were fetched; `null` if there are none. */
  readonly ageMs: number | null;
  /** The keys that were left out, with reasons. */
  readonly warnings: readonly string[];
}

/** A route as written in a router of Express, Fastify or Hono: `GET`, `/users/:id`. */
export interface ServedRoute {
  readonly method: string;
  readonly template: string;
  /** Whether a gate runs before its handler; absent if unknown. */
  readonly gated?: boolean;
}

/** A route that is missing in the policy ("undeclared") or in the service ("unserved"), or that no gate protects ("ungated"). */
export interface RouteDifference {
  readonly kind: "undeclared" | "unserved" | "ungated";
  /** Written as in a policy; an ungated route as in the router. */
  readonly route: string;
  /** The policy's route that decides the requests of an undeclared route; `null` if they are denied. */
  readonly decidedAs: string | null;
}

/** How a policy file is followed. */
export interface WatchOptions {
  /** The time between two reads. The default is 2,000. */
  readonly intervalMs?: number;
  /** Refuses a version without a [seal](https://github.com/orbgate/orbgate/blob/main/docs/reload.md). */
  readonly requireSeal?: boolean;
}

/** A policy file that a gate follows until this or the gate is closed. */
export interface Watch extends Disposable {
  /**
   * Reads the file now, for an operator who has changed it. A version with a valid seal is loaded at once, and others at most a second after
   * their bytes were first read, however often this is called.
   */
  readNow(): void;
  close(): void;
}

/** Answers requests: it verifies the token, and the policy decides. Use one gate for the whole service. */
export class Gate implements Disposable {
  /**
   * `tokens` is the configuration of the issuers in YAML. Throws a `PolicyError` that lists every error. With a
   * `Handle`, each request is decided by the engine that is current at that time.
   */
  constructor(policy: Engine | Handle, tokens: Text, options?: GateOptions);
  /** The same from two files, which are read immediately. */
  static fromFiles(policy: Text | FileUrl, tokens: Text | FileUrl, options?: GateOptions): Gate;
  /** Holds the current policy. Don't close the engine that its `store` returns: `charge` of earlier requests can still need it. */
  readonly policy: Handle;
  /**
   * Loads a new version of the policy file for all later requests. Throws a `PolicyError` with the reason if it can't be read, has errors or
   * lacks the end marker, for example because it is only partly written; the previous policy stays active. The secrets for opaque
   * tokens are read again; it throws if one can't be read, and then all of them and the policy stay as they were.
   */
  reload(file: Text | FileUrl): Engine;
  /**
   * Follows the policy file: reads it at an interval, and loads each valid version an interval after its bytes were first read, if they
   * haven't changed, or at once if it has a valid seal. Everything else is logged and counted once, and changes nothing. The first version
   * is the one after the active policy. Each process, also each worker of a cluster, follows the file itself. The process can end
   * meanwhile.
   */
  watch(file: Text | FileUrl, options?: WatchOptions): Watch;
  /** Answers a question: immediately, unless keys must be fetched first. If it throws, deny with 403. */
  answer(question: Question): Answer | Promise<Answer>;
  /** Starts fetching every issuer's keys, so that the first request doesn't wait. */
  warm(): void;
  readonly keys: readonly IssuerStatus[];
  /** Immediately stops accepting a key of this issuer. */
  revoke(issuer: Text, kid: Text): void;
  /** Discards an issuer's keys; the next token triggers a new fetch. */
  forget(issuer: Text): void;
  /** Compares the routes of a service with those of the policy. Call it at startup and in tests. */
  checkRoutes(routes: Iterable<ServedRoute>): RouteDifference[];
  /**
   * Those of these names that a token may pass to a method of the MCP endpoint: tools to `tools/call`, prompts to `prompts/get`, and URIs to
   * `resources/read`. The gate doesn't filter lists, because a client asks for a scope only when it calls something that needs it. A server
   * whose tokens never get more scopes can list only these.
   */
  visible(token: VerifiedToken, method: string, names: Iterable<string>): string[];
  /**
   * Frees the gate. Waiting and later requests are denied. The end of a worker frees nothing, so close the worker's gates before it ends.
   */
  close(): void;
  [Symbol.dispose](): void;
}

/** All that is held or stated; nothing; or what the handler has stated so far, and nothing if it has stated nothing. */
export type OrbCosts = "capture" | "void" | "stated";

export interface LedgerOptions {
  /** `https://…`, `unix:` and a path, or `http://` and a loopback address. */
  readonly url: string;
  readonly secret?: string;
  /** The file of the secret. It is read again at each `reload` of a gate, and when the service refuses the old one. */
  readonly secretFile?: string;
  /** What a call costs whose caller left before its answer was complete. */
  readonly onCancelled: OrbCosts;
  /** What a call costs whose answer the service broke off after its first byte. By default, `onCancelled` counts. */
  readonly onBroken?: OrbCosts;
  /** What a call at an MCP endpoint costs whose result has `isError`. A gate with one needs it, and `onInputRequired`. */
  readonly onToolError?: OrbCosts;
  /** What a call at an MCP endpoint costs whose result asks for input. */
  readonly onInputRequired?: OrbCosts;
  /** A call costs at most its hold times this, whatever its handler states. The default is 1. What is over is logged and counted. */
  readonly ceiling?: number;
  /** How long a hold lasts if the process stops. The default is 60,000. */
  readonly ttlMs?: number;
  /** How long a call waits for the service before it is denied. The default is 2,000. */
  readonly timeoutMs?: number;
  /** How many settlements can wait for the service. The default is 4,096. */
  readonly queue?: number;
}

/** Counts in this process what gates count, for Prometheus: `new Gate(…, { count: counters.count })`. */
export class PrometheusCounters {
  /** The content type of `text`. */
  static readonly contentType: string;
  readonly count: (name: string, labels: Readonly<Record<string, string>>) => void;
  /** All counters, in the text format of Prometheus. Serve it where no caller of the service can read it. */
  text(): string;
}

/** The ledger service in which gates hold orbs. Make one for each process and service. */
export class Ledger {
  constructor(options: LedgerOptions);
  /** Reads the secret's file again. */
  readSecret(): void;
  /** Waits until no settlement waits for the service. Call it before the program ends. */
  flush(): Promise<void>;
}

/** The information that a service gets about an allowed request. */
export class Allowed {
  private constructor();
  readonly decision: Allow;
  /** `null` for a public route, even if the request has a token. */
  readonly token: VerifiedToken | null;
  /** The id of the hold in the ledger, for your log; `null` if nothing is held. */
  readonly holdId: string | null;
  /**
   * The charge of the call. If you pass the request's body, also whether the call may use bonus orbs. A string or bytes are the raw body, and
   * an object is the parsed one: only its own member `allowBonusOrbsUse` counts, if it is exactly `true`.
   */
  charge(body?: Text | object | number | boolean | null): Charge | null;
  /**
   * Charges this amount instead of the held one, if the call succeeds: at most the hold times the ledger's `ceiling`, and what the account
   * has. Returns false if nothing is held.
   */
  stateOrbs(amount: number): boolean;
  /**
   * The response with what browsers need, at an MCP endpoint with `origins`. Only a service that calls `refusal` must send this; everywhere else,
   * the gate does it.
   */
  respond(response: Response): Response;
}

/**
 * Information about an allowed request, for every framework. Throws if no gate has allowed the request, which means
 * that its handler isn't behind a gate, or if its method or path has changed since; the response is a 500.
 */
export function allowed(request: object): Allowed;

/** Like `allowed`, but returns `undefined` instead of throwing, for code that also runs without a gate. */
export function findAllowed(request: object): Allowed | undefined;

/** The properties of a `node:http` request that the gate reads. */
export interface IncomingRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly headers: object;
  /** Express and Connect keep the original target here. */
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: any;
}

/** The members of a `node:http` response that the gate uses. */
export interface OutgoingResponse {
  readonly headersSent?: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body?: any): unknown;
}

/** The members of a server of `node:http`, `node:https` or `node:http2` that the gate uses. */
export interface GuardedServer {
  emit(name: any, ...args: any[]): boolean;
  listenerCount(name: any): number;
}

/**
 * Decides requests that a server passes to other listeners than its request handler: `upgrade` (a WebSocket handshake,
 * decided as the `GET` request that it is), `connect`, `checkContinue` and `checkExpectation`. Returns the server.
 * `listener`, `middleware` and `hono` deny every request of a server that has such listeners but no guard; `fastify`
 * guards its server itself. Call it before the server listens: if a function of your own calls the application,
 * the gate learns of the server only from its first request, and an upgrade can come earlier.
 */
export function guard<Server extends GuardedServer>(gate: Gate, server: Server): Server;

/** Wraps a handler for `http.createServer`. */
export function listener<Request extends IncomingRequest, Response extends OutgoingResponse>(
  gate: Gate,
  next: (request: Request, response: Response) => void,
): (request: Request, response: Response) => void;

/**
 * Middleware for Express 4 and 5 and Connect: `app.use(middleware(gate))` before the routes, or at a single route. The
 * route and method that Express then chooses must be the decided ones. A request whose path was rewritten before the
 * gate is denied.
 */
export function middleware(gate: Gate): (request: IncomingRequest, response: OutgoingResponse, next: (error?: any) => void) => void;

export interface FastifyOptions {
  /** Whether the service refuses to start if a route is missing in the policy or was added before the gate. The default is true. */
  readonly check?: boolean;
  /**
   * Whether the template of the route that Fastify chooses must be the decided one. The default is true. Use false only for literals with
   * `*`, which Fastify doesn't support. A request that was rewritten, or whose route has constraints, is always denied.
   */
  readonly compare?: boolean;
}

/**
 * A plugin for Fastify. It applies to all routes of the instance where it is registered, and of instances that are
 * registered below it later. At startup, it logs the routes that no gate protects. It guards the server, unless `guard`
 * already does.
 */
export function fastify(gate: Gate, options?: FastifyOptions): (instance: any, options: object, done: (error?: Error) => void) => void;

export interface HonoOptions {
  /** Whether the route that Hono chooses must be the decided one. The default is true. */
  readonly compare?: boolean;
}

/**
 * Middleware for Hono: `app.use(hono(gate))` before the routes. The handler that answers must be at the decided route.
 * That is the first handler after the gate without a `next` parameter, and every earlier one with `next` that is
 * registered for one method, without a wildcard, or by `mount`. Other middleware may answer itself.
 */
export function hono(gate: Gate, options?: HonoOptions): (context: any, next: () => Promise<void>) => Promise<any>;

type FetchResponse = typeof globalThis extends { Response: { prototype: infer Response } } ? Response : object;

/**
 * For servers with the Fetch API: returns the response to a denied request, or `undefined` if the request is allowed.
 * It decides by `request.url`, which the server has normalised before gate and service see it.
 */
export function refusal(gate: Gate, request: {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null; keys(): Iterable<string> };
}): Promise<FetchResponse | undefined>;

/** The members of an Express application or router, or of a Hono application, that are read. */
export interface ExpressRouter {
  readonly routes?: any;
  readonly stack?: any;
  readonly router?: any;
  readonly _router?: any;
}

/**
 * The routes of a Hono application, or of an Express application or router; pass the prefix where a router is mounted.
 * For `Gate.checkRoutes`.
 */
export function routesOf(router: ExpressRouter, prefix?: string): ServedRoute[];
