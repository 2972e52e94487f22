// What a person has typed, and its link: JSON, compressed, in the fragment, which no browser sends to a server.
import type { Request } from "./protocol.js";
import { hasTokenWithin } from "./secret.js";

export type TokenKind = "none" | "user" | "organisation" | "unknown";

export interface Call {
  by: "call" | "scope";
  method: string;
  target: string;
  /** Asked about without a route. */
  scope: string;
  kind: TokenKind;
  scopes: string[];
  bonus: boolean;
}

/** A case of a test file: a call and what it got. */
export interface Case {
  call: Call;
  /** As in the file. */
  expected: string;
  route: string | null;
}

export interface State {
  policy: string;
  /** The policy to compare with. */
  other: string | null;
  call: Call;
  cases: Case[];
}

export const FIRST: State = {
  policy: EXAMPLE,
  other: null,
  call: {
    by: "call",
    method: "POST",
    target: "/api/v1/external/voxies/prompt/run",
    scope: "",
    kind: "user",
    scopes: ["write:voxies"],
    bonus: false,
  },
  cases: [],
};

/** A call as the engine is asked about it. */
export function asked(call: Call): Request {
  const subject = call.by === "scope" ? { scope: call.scope } : { method: call.method, target: call.target };
  const token = call.kind === "none" ? {} : { token: { kind: call.kind, scopes: call.scopes.join(" ") } };
  return { ...subject, ...token, allow_bonus_orbs_use: call.bonus };
}

/** A request of an answer as a person would type it. */
export function called(request: Request): Call {
  const { token, scope, method = "GET", target = "/" } = request;
  const subject = { by: scope === undefined ? "call" as const : "scope" as const, scope: scope ?? "", method, target };
  return {
    ...subject,
    kind: token == null ? "none" : token.kind === "user" || token.kind === "organisation" ? token.kind : "unknown",
    scopes: (token?.scopes ?? "").split(" ").filter((held) => held !== ""),
    bonus: request.allow_bonus_orbs_use ?? false,
  };
}

/** A link's text begins with the number of its format. */
const FORMAT = "1-";

/** Browsers take links of any length, people and chats do not. */
const MOST_CHARACTERS = 64_000;

export type Link = { fragment: string } | { refused: "token" | "long" };

/** The fragment of a link to a state. */
export async function write(state: State): Promise<Link> {
  // A megabyte of nonsense does not become a link, and takes a while to compress.
  if (state.policy.length + (state.other?.length ?? 0) > 8 * MOST_CHARACTERS) {
    return { refused: "long" };
  }
  if (hasTokenWithin(state)) {
    return { refused: "token" };
  }
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify({ version: VERSION, ...state })));
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const fragment = FORMAT + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return fragment.length > MOST_CHARACTERS ? { refused: "long" } : { fragment };
}

/** A link unpacks to at most as much as a policy may have, twice. */
const MOST_UNPACKED = 20_000_000;

/** The state of a link with the version that made it; null if it isn't a link of ours. */
export async function read(fragment: string): Promise<{ state: State; version: string } | null> {
  const packed = fragment.replace(/^#/, "");
  if (!packed.startsWith(FORMAT)) {
    return null;
  }
  try {
    const text = atob(packed.slice(FORMAT.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const unpacked = await through(new DecompressionStream("deflate-raw"), bytes);
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(unpacked));
    const state = checked(parsed);
    // Anyone can make a link.
    return hasTokenWithin(state) ? null : { state, version: textOf(parsed, "version") };
  } catch {
    return null;
  }
}

async function through(transform: CompressionStream | DecompressionStream, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    length += part.value.length;
    if (length > MOST_UNPACKED) {
      throw new RangeError("too long");
    }
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

const KINDS: readonly string[] = ["none", "user", "organisation", "unknown"] satisfies TokenKind[];

/** A value from a link as a state; throws if it isn't one. */
function checked(value: unknown): State {
  const cases = of(value, "cases");
  const other = of(value, "other");
  return {
    policy: textOf(value, "policy"),
    other: other === null ? null : text(other),
    call: checkedCall(of(value, "call")),
    cases: list(cases).map((item) => {
      const route = of(item, "route");
      return { call: checkedCall(of(item, "call")), expected: textOf(item, "expected"), route: route === null ? null : text(route) };
    }),
  };
}

function checkedCall(value: unknown): Call {
  const kind = textOf(value, "kind");
  if (!KINDS.includes(kind)) {
    throw new TypeError(kind);
  }
  return {
    by: of(value, "by") === "scope" ? "scope" : "call",
    method: textOf(value, "method"),
    target: textOf(value, "target"),
    scope: textOf(value, "scope"),
    kind: kind as TokenKind,
    scopes: list(of(value, "scopes")).map(text),
    bonus: of(value, "bonus") === true,
  };
}

function of(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) {
    throw new TypeError(key);
  }
  return (value as Record<string, unknown>)[key];
}

function text(value: unknown): string {
  if (typeof value !== "string") {
    throw new TypeError("no text");
  }
  return value;
}

const textOf = (value: unknown, key: string) => text(of(value, key));

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) {
    throw new TypeError("no list");
  }
  return value;
}
