import type { LintFinding, PolicyDiagnostic, Questions } from "./questions.js";

export type * from "./questions.js";

/** A failed call. If the module traps, the error is a `WebAssembly.RuntimeError` instead, and its `Orbgate` can't be used any more. */
export class OrbgateError extends Error {
  readonly status: "invalid_argument" | "invalid_policy" | "not_found";
  /** The errors of an invalid policy, in the order of the file. */
  readonly diagnostics: readonly PolicyDiagnostic[];
}

/** An instance of the module. It handles one call at a time. */
export class Orbgate {
  /** Compile `orbgate_wasm.wasm` with `WebAssembly.compile`. */
  constructor(module: WebAssembly.Module);
  about(): About;
  /** The size of its memory in bytes. It never shrinks. */
  readonly size: number;
  /** Makes an engine from the contents of a policy file. Throws an `OrbgateError` that lists every error. */
  load(policy: string): Engine;
  /**
   * Fixes for a policy's lint findings, at most 8. Each is tested: with it, the policy remains valid and no longer has the finding.
   * Each fix takes as long as `lint`. Throws an `OrbgateError` if the policy has errors.
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

/** The module's version, and explanations of its codes. */
export interface About {
  version: string;
  reasons: Record<string, string>;
  details: Record<string, string>;
  missing_steps: Record<string, string>;
  /** The addresses of the pages that describe codes. Each code of lint has a heading of its name. */
  pages: { lint: string; codes: string };
}

/** A compiled policy. It takes memory of the module until `close()`. */
export interface Engine {
  /** The policy's digest, `sha256:…`. */
  readonly policy: string;
  /** Answers a question about the policy. Throws an `OrbgateError` on failure. */
  ask<Q extends keyof Questions>(question: Q, ...given: Given<Questions[Q][0]>): Questions[Q][1];
  /** The same with JSON strings. Returns the JSON that `orbgate QUESTION --json` prints. */
  askJson(question: string, given?: string): string;
  /** Decides the cases of a test file, and proves its properties. Throws an `OrbgateError` if the file has errors. */
  test(file: string): Tested;
  close(): void;
}

/** A case or a property of a test file. */
export interface Checked {
  location: PolicyDiagnostic["location"];
  name: string;
  /** Why it fails; empty if it doesn't. */
  wrong: string[];
  /** Why a property holds trivially. */
  warning: string | null;
}

/** The results of a test file. */
export interface Tested {
  cases: Checked[];
  properties: Checked[];
  /** The routes and scopes that no passing case decides, with their place in the policy. */
  uncovered: { location: PolicyDiagnostic["location"]; name: string }[];
}

type Given<A> = Record<string, never> extends A ? [given?: A] : [given: A];

/** Reads an answer; amounts become `bigint`. */
export function read(json: string): unknown;
