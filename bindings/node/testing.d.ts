import type { TokenKind } from "./index.js";

/** An issuer on this machine, for the tests of a service. Its tokens are real, and are really verified. */
export interface TestIssuer {
  /** Its name, and where it serves. */
  readonly url: string;
  /** The configuration that trusts it: the second argument of a `Gate`. */
  readonly tokens: string;
  /** An `Authorization` with a token of this kind and these scopes, valid for ten minutes. A claim that is `undefined` is left out. */
  bearer(kind: TokenKind, scopes: string, claims?: Readonly<Record<string, unknown>>): string;
  close(): void;
}

/**
 * Starts an issuer with a new key on a port of 127.0.0.1, by default on one that is free. It serves `/tokens.yaml`, `/jwks`, and a token for
 * everybody at `/token?kind=user&scope=read:orbs`: never use it in production.
 */
export function startIssuer(port?: number): Promise<TestIssuer>;
