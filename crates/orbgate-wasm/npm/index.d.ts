import type { LintFinding, PolicyDiagnostic, Questions } from "./questions.js";

export type * from "./questions.js";

/** Why a call has no answer. A trap of the module is a `WebAssembly.RuntimeError`, after which its `Orbgate` is good for nothing. */
export class OrbgateError extends Error {
  readonly status: "invalid_argument" | "invalid_policy" | "not_found";
  /** The errors of a policy. */
  readonly diagnostics: readonly PolicyDiagnostic[];
}

/** An instance of the module. It takes one call at a time. */
export class Orbgate {
  /** Compile `orbgate_wasm.wasm` with `WebAssembly.compile`. */
  constructor(module: WebAssembly.Module);
  about(): About;
  /** The bytes of its memory, which never shrinks. */
  readonly size: number;
  /** Makes an engine from the text of a policy file. Throws an `OrbgateError` that names every error. */
  load(policy: string): Engine;
  /**
   * The fixes for a policy's lint findings, of which at most 8 get one. Each is tested: the policy remains valid and no longer has the
   * finding. Takes as long as `lint` for each. Throws an `OrbgateError` if the policy has errors.
   */
  fixes(policy: string): Fix[];
}

/** An edit of a policy that removes a finding. */
export interface Fix {
  finding: LintFinding;
  title: string;
  /** The bytes, in UTF-8, that `new` replaces. */
  span: { start: number; end: number };
  new: string;
}

/** The module's version, and what its codes mean, in words. */
export interface About {
  version: string;
  reasons: Record<string, string>;
  details: Record<string, string>;
  missing_steps: Record<string, string>;
  /** The addresses of the pages that describe codes. Each code of lint has a heading of its name. */
  pages: { lint: string; codes: string };
}

/** A compiled policy. Its memory is the module's until `close()`. */
export interface Engine {
  /** The policy's digest, `sha256:…`. */
  readonly policy: string;
  /** Asks a question. Throws an `OrbgateError`. */
  ask<Q extends keyof Questions>(question: Q, ...given: Given<Questions[Q][0]>): Questions[Q][1];
  /** The same in JSON, as `orbgate QUESTION --json` prints it. */
  askJson(question: string, given?: string): string;
  close(): void;
}

type Given<A> = Record<string, never> extends A ? [given?: A] : [given: A];

/** Reads an answer; amounts become `bigint`. */
export function read(json: string): unknown;
