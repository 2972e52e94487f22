// Checked by `tsc --strict`, never run: what the types promise to users, with `import`.
import { Engine, type Decision, type Deny, type RouteId, type Token } from "orbgate";
import { Gate, allowed, fastify, findAllowed, guard, hono, listener, middleware, refusal } from "orbgate/gate";
import express from "express";
import { fastify as server } from "fastify";
import http from "node:http";
import implementation from "../index.js";

declare const engine: Engine;
declare const token: Token;

// The type declarations of each function are true.
const written: Pick<typeof import("orbgate"), keyof typeof implementation> & typeof implementation = implementation;
void written;

export function answer(decision: Decision): number {
  if (decision.isAllow) {
    const amount: bigint | null | undefined = decision.charge?.amount;
    void amount;
    // @ts-expect-error: only a denial has a status
    return decision.httpStatus.toFixed();
  }
  const denied: Deny = decision;
  return denied.reason === "scope_missing" ? denied.httpStatus : 0;
}

export function questions(route: RouteId): Decision[] {
  // @ts-expect-error: a number is not a route's id
  engine.decideRoute(1, token);
  // @ts-expect-error: a reason that there is not
  void (engine.decide("GET", "/", token).reason === "scope_lost");
  // @ts-expect-error: decisions are frozen
  engine.decide("GET", "/", token).scope = null;
  // @ts-expect-error: a kind that there is not
  engine.decide("GET", "/", { kind: "usr", scopes: "" });
  // @ts-expect-error: the token is never forgotten by accident
  engine.decide("GET", "/");
  return [engine.decideRoute(route, null), ...engine.decideBatch({ methods: ["GET"], targets: [new Uint8Array(1)], token })];
}

// What the gate gives is what each framework takes.
declare const gate: Gate;
express().use(middleware(gate));
server().register(fastify(gate, { check: true }));
const service: http.Server = guard(gate, http.createServer(listener(gate, (request: http.IncomingMessage, response: http.ServerResponse) => response.end(allowed(request).token?.subject))));
void [service, hono(gate)];
// @ts-expect-error: without a gate there is nothing
void findAllowed(service).token;
export const refused: Promise<Response | undefined> = refusal(gate, new Request("https://api.example.com/"));
// @ts-expect-error: an option that there is not
new Gate(engine, "", { flat_403: true });
