// A service of an edge runtime, as a bundler takes it.
import { load } from "orbgate/wasm";

const { given, keys, token } = /** @type {any} */ (globalThis);
const { Engine } = await load(given);
const { Gate, allowed, refusal } = await import("orbgate/gate");

const body = new ReadableStream({
  start(controller) {
    controller.enqueue(new TextEncoder().encode(JSON.stringify(keys)));
    controller.close();
  },
});
const gate = new Gate(Engine.external(), `orbgate_token: 1
issuers:
  - { issuer: "https://id.example.com", audience: "https://api.example.com", algorithms: [ES256], jwks_uri: "https://id.example.com/keys", kind: user }
`, { fetch: async () => ({ status: 200, headers: new Headers(), body }) });

const ask = (/** @type {string} */ path, /** @type {string} */ bearer) => new Request(`https://api.example.com/api/v1/external/${path}`, { headers: { authorization: `Bearer ${bearer}` } });
const right = ask("orbs", token);
console.log((await refusal(gate, right))?.status, allowed(right)?.token?.subject);
for (const request of [ask("orbs", `${token.slice(0, -20)}${"A".repeat(20)}`), new Request(right.url), ask("nowhere", token)]) {
  console.log((await refusal(gate, request))?.status);
}
