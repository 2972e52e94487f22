"use strict";
// Workers of a cluster, each with a gate that follows the file: on `SIGHUP`, a bad version ends none of them, and a good one reaches all.
const test = require("node:test");
const assert = require("node:assert/strict");
const cluster = /** @type {import("node:cluster").Cluster} */ (/** @type {unknown} */ (require("node:cluster")));
const { once } = require("node:events");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const { Gate, listener } = require("orbgate/gate");
const { startIssuer } = require("orbgate/testing");

const policy = (/** @type {string} */ scope) => `orbgate: 1\napis: {a: {base_path: '', scopes: {${scope}: {orbs: false, routes: [GET /a]}}}}\n...\n`;

if (cluster.isPrimary) {
  test("each worker of a cluster follows the file", { skip: process.platform === "win32", timeout: 120_000 }, async (context) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "orbgate-"));
    const file = path.join(folder, "policy.yaml");
    const issuer = await startIssuer();
    fs.writeFileSync(path.join(folder, "tokens.yaml"), issuer.tokens);
    const write = (/** @type {string} */ text) => {
      fs.writeFileSync(`${file}.new`, text);
      fs.renameSync(`${file}.new`, file);
    };
    write(policy("read:a"));
    cluster.setupPrimary({ exec: __filename, args: [folder], silent: true });
    const fork = () => {
      const worker = cluster.fork();
      const lines = /** @type {string[]} */ ([]);
      worker.on("message", (line) => void lines.push(line));
      return { worker, lines };
    };
    const workers = [fork(), fork()];
    context.after(() => {
      workers.forEach(({ worker }) => worker.process.kill("SIGKILL"));
      issuer.close();
      fs.rmSync(folder, { recursive: true });
    });
    const status = async (/** @type {string} */ port) => {
      const headers = { authorization: issuer.bearer("user", "read:a"), connection: "close" };
      const [response] = await once(http.get({ port, path: "/a", headers }), "response");
      response.resume();
      return response.statusCode;
    };
    /** The statuses of all workers, once each has said these words. */
    const statuses = (/** @type {string} */ words) => Promise.all(workers.map(async ({ lines }) => {
      while (!lines.some((line) => line.includes(words))) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return status(lines.find((line) => line.startsWith("listening "))?.split(" ")[1] ?? "");
    }));
    const told = (/** @type {string} */ text) => {
      write(text);
      workers.forEach(({ worker }) => worker.process.kill("SIGHUP"));
    };
    assert.deepEqual(await statuses("listening"), [200, 200]);
    told("orbgate: 2\n");
    assert.deepEqual(await statuses("the previous policy stays active"), [200, 200]);
    // One that dies doesn't start with the bad file, and the other serves.
    const [died] = workers.splice(0, 1);
    died?.worker.process.kill("SIGKILL");
    const [code] = await once(fork().worker, "exit");
    assert.deepEqual([code, await statuses("listening")], [1, [200]]);
    told(policy("read:b"));
    assert.deepEqual(await statuses("a policy is active"), [403]);
    workers.push(fork());
    assert.deepEqual(await statuses("listening"), [403, 403]);
  });
} else {
  const folder = process.argv[2] ?? "";
  const tell = (/** @type {string} */ line) => void process.send?.(line);
  const gate = Gate.fromFiles(path.join(folder, "policy.yaml"), path.join(folder, "tokens.yaml"), { log: { info: tell, warn: tell, error: tell } });
  const watch = gate.watch(path.join(folder, "policy.yaml"), { intervalMs: 600_000 });
  process.on("SIGHUP", () => watch.readNow());
  const server = http.createServer(listener(gate, (_, response) => void response.end()));
  // A port of its own, so that the test knows who answers.
  server.listen({ port: 0, host: "127.0.0.1", exclusive: true }, () => tell(`listening ${/** @type {any} */ (server.address()).port}`));
}
