import type { TokenKind } from "./index.js";

/** A local issuer for the tests of a service. Its tokens are really signed and verified. */
export interface TestIssuer {
  /** Its `iss`, and the URL where it serves. */
  readonly url: string;
  /** The configuration that trusts it: the second argument of `Gate`. */
  readonly tokens: string;
  /**
   * An `Authorization` value with a token of this kind and these scopes, valid for ten minutes. A claim with the value `undefined`
   * is left out.
   */
  bearer(kind: TokenKind, scopes: string, claims?: Readonly<Record<string, unknown>>): string;
  close(): void;
}

/**
 * Starts an issuer with a new key on a port of 127.0.0.1, by default a free one. It serves `/tokens.yaml`, `/jwks`, and
 * a token for any client at `/token?kind=user&scope=read:orbs`: never use it in production.
 */
export function startIssuer(port?: number): Promise<TestIssuer>;
