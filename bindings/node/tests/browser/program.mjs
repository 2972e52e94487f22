// A page's program, as a bundler takes it.
import { load } from "orbgate/wasm";

const { Engine, PolicyError } = await load(/** @type {any} */ (globalThis).given);
const token = /** @type {const} */ ({ kind: "user", scopes: "read:orbs" });
const batch = { methods: ["GET", "DELETE"], targets: ["/api/v1/external/orbs", "/é"], token };
for (const { reason } of Engine.external().decideBatch(batch)) {
  console.log(reason);
}
try {
  Engine.fromFile("policy.yaml");
} catch (error) {
  console.log(error instanceof PolicyError ? error.message : error);
}
