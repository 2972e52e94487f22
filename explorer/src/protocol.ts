// What the page and its worker say to each other. A question of a kind that is asked again before it is answered is not answered.
import type { About, Comparison, PolicyDiagnostic, Explanation, Fix, LintFinding, LintedFile, Reach, Request, Table, Tested, RequestToken } from "../../crates/orbgate-wasm/npm/index.js";

export type { About, Comparison, PolicyDiagnostic, Explanation, Fix, LintFinding, Request, Table, Tested, RequestToken };

/** The policy in the editor, and the one to compare it with. */
export type Slot = "policy" | "other";

export interface Asked {
  /** Reads a policy; the engine of the slot is then its own, or none. */
  read: { slot: Slot; text: string };
  /** The fixes for what was read into the slot. */
  fixes: { slot: Slot };
  explain: { request: Request };
  reach: { token: RequestToken };
  compare: Record<string, never>;
  /** Decides the cases of a test file, and proves its properties. */
  test: { file: string };
}

export interface Read {
  slot: Slot;
  digest: string | null;
  diagnostics: PolicyDiagnostic[];
  findings: LintedFile["findings"];
  table: Table | null;
}

export interface Answered {
  read: Read;
  fixes: Fix[];
  /** Null where a policy has errors. */
  explain: { policy: Explanation | null; other: Explanation | null };
  reach: Reach | null;
  compare: Comparison | { refused: string } | null;
  /** Null if the policy has errors. */
  test: Tested | { errors: readonly PolicyDiagnostic[] } | null;
}

export type Kind = keyof Asked;

export type ToWorker = { start: ArrayBuffer } | { [K in Kind]: { kind: K; number: number; given: Asked[K] } }[Kind];
export type FromWorker =
  | { about: About }
  | { failed: string }
  | { [K in Kind]: { kind: K; number: number; answer: Answered[K] } }[Kind];
