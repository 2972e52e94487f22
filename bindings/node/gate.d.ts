import type { Allow, Charge, Decision, Engine, FileUrl, Handle, Text, TokenKind } from "./index.js";

/** Where a gate writes what people must know: `console`, and the loggers of pino and Fastify. No message shows a token. */
export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** How the issuers' keys are fetched: like `fetch`, which is the default. Redirects are not followed. */
export type FetchKeys = (url: string, options: { redirect: "manual"; signal: any; headers: Record<string, string> }) => PromiseLike<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: any;
}>;

export interface GateOptions {
  /**
   * What a denied caller is told in `WWW-Authenticate`. "minimal", the default: `Bearer`. "full": the error and the missing scope, as RFC
   * 6750 says. "none": nothing, and every denial is a bare 403.
   */
  readonly challenge?: "minimal" | "full" | "none";
  /** The realm of a full challenge. */
  readonly realm?: string;
  /** The URL of the service's metadata in a full challenge (RFC 9728). */
  readonly resourceMetadata?: string;
  /** Every denial has the status 403, so that a caller cannot tell an unknown route from a missing scope. */
  readonly flat403?: boolean;
  /** A header that names another method is ignored. Only if nothing behind the gate obeys such headers. */
  readonly ignoreMethodOverride?: boolean;
  /** How often and patiently keys are fetched; the defaults are those of the library. */
  readonly keys?: {
    readonly ttlMs?: number;
    readonly ttlMinMs?: number;
    readonly ttlMaxMs?: number;
    readonly aheadPercent?: number;
    /** 0: no key is used beyond its time. */
    readonly maxStaleMs?: number;
    readonly cooldownMs?: number;
    readonly burst?: number;
    readonly retryMs?: number;
    readonly timeoutMs?: number;
  };
  /** Fetches keys, through a proxy for example. */
  readonly fetch?: FetchKeys;
  /**
   * Routes that need no token, written as in a policy with the whole path: `["GET /healthz"]`. A gate, or `reload`, throws if a path fits both one
   * of them and a route of the policy.
   */
  readonly public?: readonly string[];
  /** "pass" lets a browser ask with `OPTIONS`, without a token, whether a cross-origin request is allowed, if its route is declared. "deny" by default. */
  readonly corsPreflight?: "deny" | "pass";
  /**
   * Adds one to a counter: `orbgate_decisions_total`, `orbgate_tokens_refused_total`, `orbgate_misrouted_total`, `orbgate_policy_loads_total`,
   * `orbgate_audit_lost_total`.
   */
  readonly count?: (name: string, labels: Readonly<Record<string, string>>) => void;
  /** Gets a line of JSON for each decision, without the end of the line. No answer depends on a hook: its first failure is logged. */
  readonly audit?: (line: string) => void;
  /** `console` by default. */
  readonly log?: Log;
}

/** A request as it came over the wire: nothing of it is decoded, stripped or joined. */
export interface Question {
  readonly method: Text;
  /** Path and query. */
  readonly target: Text;
  /** Every value of `Authorization`, an element for each line of the header. */
  readonly authorization: readonly Text[];
  /** Every value of `Upgrade`. A request that lists `h2c` is denied, because nothing decides what follows on its connection. */
  readonly upgrade: readonly Text[];
  /** Every value of `Origin`. */
  readonly origin?: readonly Text[];
  /** Every value of `Access-Control-Request-Method`. */
  readonly accessControlRequestMethod?: readonly Text[];
  /** The names of all headers, or at least those that contain `method`: some override the method. */
  readonly headerNames: readonly string[];
  /** The template that a router has taken, as `/users/:id`; `null` if it does not say. Another one than the decided is a denial. */
  readonly template?: string | null;
}

/** What a verified token says. The token itself is not kept. */
export interface VerifiedToken {
  readonly kind: TokenKind;
  /** With one space between two. */
  readonly scopes: string;
  readonly issuer: string;
  readonly subject: string | null;
  readonly client: string | null;
  readonly actor: string | null;
  readonly id: string | null;
  /** A name that reveals nothing of it: 16 hexadecimal digits. For logs. */
  readonly fingerprint: string;
  /** Since 1970. */
  readonly expiresMs: number;
}

/** The answer to a question. */
export interface Answer {
  readonly isAllow: boolean;
  readonly decision: Decision;
  /** The status of a denial, `null` for an allow. */
  readonly httpStatus: number | null;
  /** `www-authenticate` and `allow` of a denial, which has no body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly token: VerifiedToken | null;
  /** Why the token is refused, as in `expired`: for logs and counters alone. */
  readonly refused: string | null;
  /** Where the router went instead of the allowed route; empty if it did not say, `null` if they agree. */
  readonly misrouted: string | null;
  /** The template of an allowed request that needs no token, whose decision has no route; else `null`. */
  readonly publicTemplate: string | null;
}

/** How an issuer's keys are. */
export interface IssuerStatus {
  readonly issuer: string;
  /** With 0 every token of the issuer is refused. */
  readonly keyCount: number;
  /** Since the keys were fetched. */
  readonly ageMs: number | null;
  /** Why the last attempt failed. */
  readonly failure: string | null;
  /** The keys that were left out, and why. */
  readonly warnings: readonly string[];
}

/** A route as a router of Express, Fastify or Hono writes it: `GET`, `/users/:id`. */
export interface ServedRoute {
  readonly method: string;
  readonly template: string;
  /** Whether a gate comes before its handler; absent if that isn't known. */
  readonly gated?: boolean;
}

/** A route that the policy lacks ("undeclared"), that the service lacks ("unserved"), or whose requests no gate sees ("ungated"). */
export interface RouteDifference {
  readonly kind: "undeclared" | "unserved" | "ungated";
  /** As policies write it; an ungated one as the router writes it. */
  readonly route: string;
  /** The policy's route that decides the requests of an undeclared one; `null` where they are denied. */
  readonly decidedAs: string | null;
}

/** From a request as it came to its answer: the token is verified, the policy decides. One for the whole service. */
export class Gate implements Disposable {
  /**
   * `tokens` is the configuration of the issuers, YAML. Throws a `PolicyError` that names every error. With a `Handle` every request is
   * decided by the engine that it holds then.
   */
  constructor(policy: Engine | Handle, tokens: Text, options?: GateOptions);
  /** The same from two files, which are read at once. */
  static fromFiles(policy: Text | FileUrl, tokens: Text | FileUrl, options?: GateOptions): Gate;
  /** Holds the policy in force. */
  readonly policy: Handle;
  /**
   * Puts a new version of the policy's file in force for every later request. Throws a `PolicyError` if it has errors or lacks the end
   * marker, as a half-written file does; the former policy stays.
   */
  reload(file: Text | FileUrl): Engine;
  /** Answers a question, at once unless keys must come first. What it throws is a denial: answer 403. */
  answer(question: Question): Answer | Promise<Answer>;
  /** Begins to fetch every issuer's keys, so that no first request waits. */
  warm(): void;
  readonly keys: readonly IssuerStatus[];
  /** Stops taking a key from its issuer, at once. */
  revoke(issuer: Text, kid: Text): void;
  /** Forgets an issuer's keys: the next token has them fetched again. */
  forget(issuer: Text): void;
  /** Compares the routes of a service with the policy's: for its start, and its tests. */
  checkRoutes(routes: Iterable<ServedRoute>): RouteDifference[];
  /** Frees it. Requests that wait, and later ones, are denied. */
  close(): void;
  [Symbol.dispose](): void;
}

/** What a service is told of a request that its gate let through. */
export class Allowed {
  private constructor();
  readonly decision: Allow;
  /** `null` for a public route, whatever token came. */
  readonly token: VerifiedToken | null;
  /** What the call consumes by the body of its request, which may allow bonus orbs. */
  charge(body: Text): Charge | null;
}

/**
 * What is known of a request, as any framework has it. Throws if no gate let the request through, which fails it with a 500: its handler isn't
 * behind a gate.
 */
export function allowed(request: object): Allowed;

/** The same, or `undefined` if no gate let the request through: for code that also runs without one. */
export function findAllowed(request: object): Allowed | undefined;

/** What is read of a request of `node:http`. */
export interface IncomingRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly rawHeaders: readonly string[];
  readonly headers: object;
  /** Express and Connect keep what came over the wire here. */
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: any;
}

/** What is written of a response of `node:http`. */
export interface OutgoingResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(): unknown;
}

/** What is used of a server of `node:http`, `node:https` or `node:http2`. */
export interface GuardedServer {
  emit(name: any, ...args: any[]): boolean;
  listenerCount(name: any): number;
}

/**
 * Decides what a server gives to other listeners than its request handler, before they get it: `upgrade` (a WebSocket handshake, as the `GET`
 * that it is), `connect`, `checkContinue` and `checkExpectation`. Returns the server. `listener`, `middleware` and `hono` deny every request of
 * a server that has such listeners and no guard; `fastify` guards its server itself. Call it before the server listens: behind Hono's server, or a
 * function of your own, the gate knows the server only from its first request, which an upgrade can precede.
 */
export function guard<Server extends GuardedServer>(gate: Gate, server: Server): Server;

/** A handler for `http.createServer`, around yours. */
export function listener<Request extends IncomingRequest, Response extends OutgoingResponse>(
  gate: Gate,
  next: (request: Request, response: Response) => void,
): (request: Request, response: Response) => void;

/**
 * Middleware for Express 4 and 5 and Connect: `app.use(middleware(gate))` before the routes, or at a route. The route that Express takes
 * then must be the one that was decided, with the method that was decided. A request whose path was rewritten before the gate is denied.
 */
export function middleware(gate: Gate): (request: IncomingRequest, response: OutgoingResponse, next: (error?: any) => void) => void;

export interface FastifyOptions {
  /** Whether the service refuses to start with a route that the policy lacks or that was added before the gate. True by default. */
  readonly check?: boolean;
  /** Whether the route that Fastify takes must be the decided one. True by default; false only for literals with `*`, which Fastify cannot have. */
  readonly compare?: boolean;
}

/**
 * A plugin for Fastify: it is for all routes of the instance that it is registered with, and of those that are registered below it afterwards. At
 * the start, the gate's log lists the routes that no gate sees. It guards the server, unless `guard` already does.
 */
export function fastify(gate: Gate, options?: FastifyOptions): (instance: any, options: object, done: (error?: Error) => void) => void;

export interface HonoOptions {
  /** Whether the route that Hono takes must be the decided one. True by default. */
  readonly compare?: boolean;
}

/**
 * Middleware for Hono: `app.use(hono(gate))` before the routes. The handler that will answer must be at the route that was decided: the first
 * without `next` after it, and those before it that take `next`, but are for one method and no wildcard. Other middleware may answer by itself.
 */
export function hono(gate: Gate, options?: HonoOptions): (context: any, next: () => Promise<void>) => Promise<any>;

type FetchResponse = typeof globalThis extends { Response: { prototype: infer Response } } ? Response : object;

/**
 * For servers in the manner of the Fetch API: the response to a request that is denied, `undefined` for one that may go on. It decides by
 * `request.url`, which the server has normalised before the gate and the service see it.
 */
export function refusal(gate: Gate, request: {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null; keys(): Iterable<string> };
}): Promise<FetchResponse | undefined>;

/** What is read of an application or a router of Express, or of an application of Hono. */
export interface ExpressRouter {
  readonly routes?: any;
  readonly stack?: any;
  readonly router?: any;
  readonly _router?: any;
}

/**
 * The routes of an application of Hono; of an application of Express, or of a router and the prefix where it is mounted: for
 * `Gate.checkRoutes`.
 */
export function routesOf(router: ExpressRouter, prefix?: string): ServedRoute[];
