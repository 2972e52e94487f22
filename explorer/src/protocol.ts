// What the page and its worker say to each other. A question of a kind that is asked again before it is answered is not answered.
import type { About, Compared, Diagnostic, Explained, Finding, Linted, Reach, RequestWithToken, Table, Token } from "../../crates/orbgate-wasm/npm/index.js";

export type { About, Compared, Diagnostic, Explained, Finding, RequestWithToken, Table, Token };

/** The policy in the editor, and the one to compare it with. */
export type Slot = "policy" | "other";

export interface Asked {
  /** Reads a policy; the engine of the slot is then its own, or none. */
  read: { slot: Slot; text: string };
  explain: { request: RequestWithToken };
  reach: { token: Token };
  compare: Record<string, never>;
}

export interface Read {
  slot: Slot;
  digest: string | null;
  diagnostics: Diagnostic[];
  findings: Linted["findings"];
  table: Table | null;
}

export interface Answered {
  read: Read;
  /** Null where a policy has errors. */
  explain: { policy: Explained | null; other: Explained | null };
  reach: Reach | null;
  compare: Compared | { refused: string } | null;
}

export type Kind = keyof Asked;

export type ToWorker = { start: ArrayBuffer } | { [K in Kind]: { kind: K; number: number; given: Asked[K] } }[Kind];
export type FromWorker =
  | { about: About }
  | { failed: string }
  | { [K in Kind]: { kind: K; number: number; answer: Answered[K] } }[Kind];
