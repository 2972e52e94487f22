"use strict";
const assert = require("node:assert/strict");
const http = require("node:http");
const { test } = require("node:test");
const { Engine } = require("orbgate");
const { Gate, PrometheusCounters, listener } = require("orbgate/gate");
const { startIssuer } = require("orbgate/testing");

const POLICY = Engine.fromYaml("{orbgate: 1, apis: {a: {base_path: '', scopes: {'read:a': {orbs: false, routes: [GET /a]}}}}}");

test("Prometheus reads what a gate counts", async (context) => {
  const counters = new PrometheusCounters();
  const start = counters.text().split("\n");
  assert.ok(start.includes("# TYPE orbgate_decisions_total counter") && start.includes("orbgate_over_ceiling_total 0"));
  const issuer = await startIssuer();
  context.after(() => issuer.close());
  const gate = new Gate(POLICY, issuer.tokens, { count: counters.count, log: { info() {}, warn() {}, error() {} } });
  context.after(() => gate.close());
  const server = http.createServer(listener(gate, (_, response) => response.end())).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  for (const path of ["a", "a", "b"]) {
    await (await fetch(`http://127.0.0.1:${port}/${path}`)).text();
  }
  const lines = counters.text().split("\n");
  assert.ok(lines.includes('orbgate_decisions_total{decision="deny",reason="no_token",route=""} 3'), lines.join("\n"));
  assert.equal(lines.filter((line) => line.startsWith("# TYPE orbgate_decisions_total")).length, 1);
  assert.equal(lines.at(-1), "");
});

test("a label keeps its series on one line", () => {
  const counters = new PrometheusCounters();
  counters.count("orbgate_misrouted_total", { route: 'GET /"a"\\', matched: "\n" });
  assert.ok(counters.text().includes('orbgate_misrouted_total{route="GET /\\"a\\"\\\\",matched="\\n"} 1\n'), counters.text());
});
