"use strict";
// What runs after the gate is what was decided: a CORS preflight, a mounted service, a hook that changes the request.
const test = require("node:test");
const assert = require("node:assert/strict");
const express5 = require("express");
const { Engine } = require("orbgate");
const { allowed, fastify, findAllowed, hono, listener, middleware, refusal, routesOf } = require("orbgate/gate");
const { ask } = require("./support/issuer.js");
const { gated, portOf, served } = require("./support/service.js");

// @ts-expect-error: its types are those of 5
const express4 = /** @type {typeof express5} */ (require("express4"));
// @ts-expect-error: it has no types
const methodOverride = /** @type {(getter: string) => import("express").RequestHandler} */ (require("method-override"));
const EXPRESSES = /** @type {const} */ ([["Express 4", express4], ["Express 5", express5]]);

const PREFLIGHT = { origin: "https://evil.example", "access-control-request-method": "GET" };

const orders = (/** @type {string[]} */ ...others) => Engine.fromYaml(`orbgate: 1
apis: { a: { base_path: /orders, scopes: { read: { orbs: false, routes: ['GET /{id}'] }${others.join("")} } } }`);

const HELD = ", post: { orbs: false, routes: ['POST /{id}'] }, delete: { orbs: false, routes: ['DELETE /{id}'] }";

/** What is counted of requests: effect and reason, and what was misrouted. @param {string[]} counted */
const effects = (counted) => counted.splice(0).map((one) => (one.includes("misrouted") ? "misrouted" : one.split(" ").slice(1, 3).join(" ")));

/** A line for each request: its effect. @param {string[]} lines */
const audited = (lines) => lines.splice(0).map((line) => JSON.parse(line).decision);

/** A promise, and what resolves it. */
function later() {
  let resolve = () => {};
  const promise = new Promise((/** @type {(_: void) => void} */ done) => {
    resolve = done;
  });
  return { promise, resolve };
}

for (const [name, express] of EXPRESSES) {
  test(`${name}: a CORS preflight reaches only handlers that take just OPTIONS`, async (context) => {
    const { gate, counted } = await gated(context, orders(), { corsPreflight: "pass", public: ["OPTIONS /open", "GET /shared"] });
    const handler = (/** @type {any} */ request, /** @type {any} */ response) => void response.send(`${request.method} handled`);
    const cors = require("cors")({ origin: (/** @type {unknown} */ _, /** @type {Function} */ done) => done(null, false) });
    const statusOf = async (/** @type {(app: import("express").Express) => unknown} */ add, target = "/orders/7") => {
      const app = express().use(middleware(gate));
      add(app);
      return (await ask(await served(context, app), "OPTIONS", target, PREFLIGHT)).status;
    };
    assert.equal(await statusOf((app) => app.use(cors).all("/orders/:id", handler)), 404);
    assert.deepEqual(effects(counted), ["deny no_route", "misrouted"]);
    assert.equal(await statusOf((app) => app.route("/orders/:id").all(handler)), 404);
    assert.equal(await statusOf((app) => app.route("/orders/:id").get(handler).options(handler)), 404);
    assert.equal(await statusOf((app) => app.all("/orders/:id", middleware(gate), handler)), 404);
    assert.equal(await statusOf((app) => app.all("/shared", handler), "/shared"), 404);
    assert.equal(await statusOf((app) => app.options("/orders/:id", handler)), 200);
    assert.equal(await statusOf((app) => app.get("/orders/:id", handler).options("/orders/:id", middleware(gate), (_, response) => void response.send())), 200);
    assert.equal(await statusOf((app) => app.route("/orders/:id").all(middleware(gate)).get(() => {}).options(handler)), 200);
    // It is public for `OPTIONS`, so it needs no preflight.
    assert.equal(await statusOf((app) => app.all("/open", handler), "/open"), 200);
  });

  test(`${name}: "allowed" fails after the method or the path has changed`, async (context) => {
    const { gate, bearer } = await gated(context, orders(HELD));
    const app = express().use(middleware(gate)).use(methodOverride("_method"));
    app.use((request, _, next) => {
      request.url = request.url.replace("me", "7");
      next();
    });
    app.use((request, response) => void response.send(`${request.method} ${allowed(request).decision.route} ${findAllowed(request) !== undefined}`));
    /** @type {import("express").ErrorRequestHandler} */
    const failed = ({ message }, request, response, _next) => void response.status(500).send(`${message} ${findAllowed(request)}`);
    const port = await served(context, app.use(failed));
    const answerOf = async (/** @type {string} */ target) => {
      const { status, body } = await ask(port, "POST", target, bearer("post"));
      return [status, body];
    };
    assert.deepEqual(await answerOf("/orders/7?x=1"), [200, "POST POST /orders/{id} true"]);
    for (const target of ["/orders/7?_method=DELETE", "/orders/me"]) {
      const [status, body] = await answerOf(target);
      assert.equal(status, 500);
      assert.match(String(body), / another request .* undefined$/);
    }
  });

  test(`${name}: a request has one line and one count`, async (context) => {
    const lines = /** @type {string[]} */ ([]);
    const { gate, counted, bearer } = await gated(context, orders(), { audit: (line) => void lines.push(line) });
    const app = express().use(middleware(gate)).use((request, response, next) => void (request.url === "/orders/9" ? response.send("without a route") : next()));
    app.get("/orders/export", () => assert.fail("reached")).get("/orders/:id", middleware(gate), (_, response) => void response.send("order"));
    const port = await served(context, app);
    for (const [target, status, effect] of /** @type {const} */ ([["export", 404, "deny"], ["7", 200, "allow"], ["9", 200, "allow"], ["export", 404, "deny"]])) {
      assert.equal((await ask(port, "GET", `/orders/${target}`, bearer("read"))).status, status);
      while (lines.length === 0) {
        await new Promise(setImmediate);
      }
      assert.deepEqual([target, audited(lines), effects(counted)[0]?.split(" ")[0]], [target, [effect], effect]);
    }
  });
}

test("a service of Koa is told what its gate knows, and nothing compares its handlers", async (context) => {
  const { gate, bearer } = await gated(context, orders());
  const app = new (/** @type {any} */ (require(/** @type {string} */ ("koa"))))();
  app.use((/** @type {any} */ koa) => {
    koa.body = `${koa.path} ${allowed(koa.req).decision.route}`;
  });
  const port = await served(context, listener(gate, app.callback()));
  assert.equal((await ask(port, "GET", "/orders/secret", bearer("read"))).body, "/orders/secret GET /orders/{id}");
  assert.equal((await ask(port, "GET", "/orders/secret")).status, 401);
  assert.equal((await ask(port, "GET", "/nowhere", bearer("read"))).status, 404);
});

for (const [name, express] of EXPRESSES) {
  test(`${name}: a mounted handler gets only requests whose decided route is below its path`, async (context) => {
    const lines = /** @type {string[]} */ ([]);
    const { gate, counted, bearer } = await gated(context, orders(), { audit: (line) => void lines.push(line), corsPreflight: "pass" });
    const secret = (/** @type {any} */ _, /** @type {any} */ response) => void response.send("secret");
    const Router = () => express.Router();
    /** @typedef {import("express").Express} App */
    /** @type {[string, (app: App) => unknown, string | null][]} */
    const table = [
      ["a literal", (app) => app.use("/orders/secret", secret), null],
      ["one in another case", (app) => app.use("/Orders/Secret", secret), null],
      ["the path of the literals", (app) => app.use("/orders", secret), "secret"],
      ["a parameter", (app) => app.use("/orders/:id", secret), "secret"],
      ["a parameter for a literal", (app) => app.use("/:any/:id", secret), "secret"],
      ["everywhere", (app) => app.use(secret), "secret"],
      ["the root", (app) => app.use("/", secret), "secret"],
      ["several paths", (app) => app.use(["/orders/secret", "/other"], secret), null],
      ["an expression", (app) => app.use(/^\/orders\/s[^/]+/, secret), null],
      ["after a second gate", (app) => app.use("/orders/secret", middleware(gate), secret), null],
      ["in a router", (app) => app.use("/orders", Router().use("/secret", secret)), null],
      ["in a router with a parameter", (app) => app.use("/orders", Router().use("/:id", secret)), "secret"],
      ["in a router below a parameter", (app) => app.use("/:any", Router().use("/secret", secret)), null],
      ["in a router everywhere", (app) => app.use(Router().use("/orders/secret", secret)), null],
      ["in a router of a router", (app) => app.use("/orders", Router().use(Router().use("/secret", secret))), null],
      ["in a router with the gate", (app) => app.use("/orders", Router().use(middleware(gate)).use("/secret", secret)), null],
      ["in an application", (app) => app.use("/orders", express().use("/secret", secret)), null],
      ["an application", (app) => app.use("/orders/secret", express().use(secret)), null],
      ["middleware", (app) => app.use("/orders/:id", (_, __, next) => void next()), "order"],
      ["middleware of another path", (app) => app.use("/other", secret), "order"],
      ["a handler of errors", (app) => app.use("/orders/secret", (/** @type {any} */ _, /** @type {any} */ __, /** @type {any} */ response, /** @type {any} */ ___) => response.send("secret")), "order"],
    ];
    for (const [how, add, body] of table) {
      const app = express().use(middleware(gate));
      add(app);
      app.get("/orders/:id", (_, response) => void response.send("order"));
      const before = JSON.stringify(routesOf(app));
      const port = await served(context, app);
      for (let round = 1; round <= 2; round++) {
        const answer = await ask(port, "GET", "/orders/secret", bearer("read"));
        assert.deepEqual([how, answer.status, answer.body], [how, body === null ? 404 : 200, body ?? ""]);
        while (lines.length === 0) {
          await new Promise(setImmediate);
        }
        assert.deepEqual([how, audited(lines), effects(counted).includes("misrouted")], [how, [body === null ? "deny" : "allow"], body === null]);
      }
      assert.equal((await ask(port, "GET", "/orders/secret")).status, 401);
      assert.equal(JSON.stringify(routesOf(app)), before, how);
      lines.splice(0);
      counted.splice(0);
    }
    const app = express().use(middleware(gate)).use("/orders", Router());
    const port = await served(context, app);
    assert.equal((await ask(port, "GET", "/orders/secret", bearer("read"))).status, 404);
    app.use("/orders/secret", () => assert.fail("reached"));
    assert.equal((await ask(port, "GET", "/orders/secret", bearer("read"))).body, "");
    const cors = require("cors")({ origin: PREFLIGHT.origin });
    const browser = await served(context, express().use(middleware(gate)).use("/orders", cors).get("/orders/:id", secret));
    assert.equal((await ask(browser, "OPTIONS", "/orders/7", PREFLIGHT)).status, 204);
  });
}

test("in node:http, `allowed` fails after the method or the path has changed", async (context) => {
  const { gate, bearer } = await gated(context, orders());
  const port = await served(context, listener(gate, (request, response) => {
    const before = findAllowed(request)?.decision.route;
    const { method, url } = request;
    request.method = "DELETE";
    const [other] = [findAllowed(request)];
    Object.assign(request, { method, url: "/orders/8" });
    assert.throws(() => allowed(request), / another request /);
    Object.assign(request, { url });
    response.end(`${before} ${other} ${allowed(request).decision.route}`);
  }));
  assert.equal((await ask(port, "GET", "/orders/7?x=1", bearer("read"))).body, "GET /orders/{id} undefined GET /orders/{id}");
});

test("in Connect, a path that was rewritten is denied before the gate, and fails after it", async (context) => {
  const { gate, bearer } = await gated(context, orders());
  const rewrite = (/** @type {any} */ request, /** @type {unknown} */ _, /** @type {() => void} */ next) => {
    request.url = request.headers.to ?? request.url;
    next();
  };
  const handler = (/** @type {any} */ request, /** @type {any} */ response) => void response.end(`${request.url} ${allowed(request).decision.route}`);
  const silent = (/** @type {any} */ _, /** @type {any} */ _request, /** @type {any} */ response, /** @type {any} */ _next) => {
    response.statusCode = 500;
    response.end();
  };
  const gates = middleware(gate);
  for (const [add, status] of /** @type {[(app: any) => unknown, number][]} */ ([
    [(app) => app.use(rewrite).use(gates), 404],
    [(app) => app.use(rewrite).use("/orders", gates), 500],
    [(app) => app.use(gates).use(rewrite), 500],
    [(app) => app.use("/orders", gates).use(rewrite), 500],
  ])) {
    const app = require("connect")();
    add(app);
    const port = await served(context, app.use("/orders", handler).use("/admin", handler).use(silent));
    const same = await ask(port, "GET", "/orders/7", bearer("read"));
    assert.deepEqual([same.status, same.body], [200, "/7 GET /orders/{id}"]);
    assert.equal((await ask(port, "GET", "/orders/7", { ...bearer("read"), to: "/admin/8" })).status, status);
  }
});

test("without a comparison of templates, Fastify still runs nothing at a path that `rewriteUrl` has made", async (context) => {
  const { gate, bearer } = await gated(context, orders());
  for (const compare of [true, false]) {
    const app = require("fastify")({ rewriteUrl: (/** @type {any} */ request) => request.headers.to ?? request.url });
    app.register(fastify(gate, { check: false, compare }));
    for (const path of ["/orders/:id", "/admin"]) {
      app.get(path, async (/** @type {any} */ request) => request.url);
    }
    await app.listen({ port: 0 });
    context.after(() => app.close());
    const port = portOf(app.server);
    assert.equal((await ask(port, "GET", "/orders/7", bearer("read"))).body, "/orders/7");
    assert.equal((await ask(port, "GET", "/orders/7", { ...bearer("read"), to: "/admin" })).status, 404);
    assert.equal((await ask(port, "GET", "/orders/7", { ...bearer("read"), to: "/nowhere" })).status, 404);
  }
});

test("what is answered while the gate waits is left alone, and audited", async (context) => {
  const failed = /** @type {unknown[]} */ ([]);
  const onFailure = (/** @type {unknown} */ error) => void failed.push(error);
  process.on("unhandledRejection", onFailure);
  context.after(() => void process.off("unhandledRejection", onFailure));
  const app = (/** @type {any} */ make) => (/** @type {any} */ limit, /** @type {any} */ gate, /** @type {any} */ handler) => (
    make().use(limit).use(middleware(gate)).use(handler)
  );
  const bare = (/** @type {any} */ limit, /** @type {any} */ gate, /** @type {any} */ handler) => (
    (/** @type {any} */ request, /** @type {any} */ response) => limit(request, response, () => listener(gate, handler)(request, response))
  );
  const servers = [...EXPRESSES.map(([, express]) => app(express)), app(require("connect")), bare];
  for (const server of servers) {
    for (const [status, effect] of /** @type {const} */ ([[200, "allow"], [500, "deny"]])) {
      const lines = /** @type {string[]} */ ([]);
      const { promise: answered, resolve: answer } = later();
      const slow = async (/** @type {string} */ url, /** @type {any} */ options) => {
        await answered;
        return status === 200 ? fetch(url, options) : new Response("", { status });
      };
      const { gate, bearer } = await gated(context, orders(), { fetch: /** @type {any} */ (slow), audit: (line) => void lines.push(line) });
      const limit = (/** @type {any} */ _, /** @type {any} */ response, /** @type {() => void} */ next) => {
        setTimeout(() => response.writeHead(503).end("late"), 20);
        next();
      };
      const port = await served(context, server(limit, gate, () => {}));
      assert.equal((await ask(port, "GET", "/orders/7", bearer("read"))).body, "late");
      answer();
      for (let at = 0; lines.length === 0 && at < 100; at += 1) {
        await new Promise((resolve) => void setTimeout(resolve, 10));
      }
      assert.deepEqual(audited(lines), [effect]);
    }
  }
  assert.deepEqual(failed, []);
});

test("a hook of Fastify cannot change a request on its way to its handler", async (context) => {
  const lines = /** @type {string[]} */ ([]);
  const { gate, counted, bearer } = await gated(context, orders(HELD), { audit: (line) => void lines.push(line) });
  for (const hook of /** @type {const} */ (["preHandler", "preValidation"])) {
    const app = require("fastify").fastify();
    context.after(() => app.close());
    await app.register(fastify(gate));
    app.addHook(hook, async ({ raw, query }) => {
      const { _method: method = raw.method, url = raw.url } = /** @type {Record<string, string>} */ (query);
      Object.assign(raw, { method, url });
    });
    app.route({ method: ["POST", "DELETE"], url: "/orders/:id", handler: async (request) => `${request.method} as ${allowed(request).decision.route}` });
    const answerOf = async (/** @type {string} */ url) => {
      const { statusCode, body } = await app.inject({ method: "POST", url, headers: bearer("post") });
      return [statusCode, body];
    };
    assert.deepEqual(await answerOf("/orders/7"), [200, "POST as POST /orders/{id}"]);
    assert.deepEqual([effects(counted), audited(lines)], [["allow scope_held"], ["allow"]]);
    for (const query of ["_method=DELETE", "url=/orders/8"]) {
      assert.deepEqual(await answerOf(`/orders/7?${query}`), [404, ""]);
      assert.deepEqual([effects(counted), audited(lines)], [["deny no_route", "misrouted"], ["deny"]]);
    }
  }
});

test("a handler that another package adds to Fastify gets only requests whose decided route is below its path", async (context) => {
  const { gate, counted, bearer } = await gated(context, orders());
  const secret = (/** @type {any} */ _, /** @type {any} */ response) => void response.end("secret");
  const goOn = (/** @type {any} */ _, /** @type {any} */ __, /** @type {() => void} */ next) => void next();
  const started = async (/** @type {(app: any) => unknown} */ add, prefix = "") => {
    const app = /** @type {any} */ (require("fastify").fastify());
    context.after(() => app.close());
    await add(app);
    app.register(async (/** @type {any} */ child) => {
      child.get("/orders/:id".slice(prefix.length), async () => "order");
      return prefix === "" ? undefined : child.use("/secret", secret);
    }, { prefix });
    await app.listen({ port: 0 });
    return (/** @type {Record<string, string>} */ headers, target = "/orders/secret") => ask(portOf(app.server), "GET", target, headers);
  };
  const packages = ["middie", "express"].map((/** @type {any} */ name) => [name, require(`@fastify/${name}`)]);
  for (const [name, plugin] of packages) {
    const inside = (/** @type {any} */ app) => app.register(fastify(gate)).register(plugin);
    /** @type {[string, (app: any) => unknown, string | null][]} */
    const table = [
      ["a literal", (app) => app.use("/orders/secret", secret), null],
      ["several paths", (app) => app.use(["/other", "/orders/secret"], secret), null],
      ["several handlers", (app) => app.use("/orders/secret", [goOn, secret]), null],
      ["the path of the literals", (app) => app.use("/orders", secret), "secret"],
      ["a parameter", (app) => app.use("/orders/:id", secret), "secret"],
      ["everywhere", (app) => app.use(secret), "secret"],
      ["middleware", (app) => app.use(goOn).use("/orders", goOn), "order"],
      ["an application of Express", (app) => app.use(express5().get("/orders/secret", secret)), null],
      ["a router of Express", (app) => app.use("/orders", express5.Router().get("/secret", secret)), null],
      ["a mount in one", (app) => app.use("/orders", express5.Router().use("/secret", secret)), null],
      ["a route of Express", (app) => app.use(express5().get("/orders/:id", secret)), "secret"],
    ];
    for (const [how, add, body] of table) {
      const send = await started(async (app) => {
        await inside(app);
        add(app);
      });
      const answer = await send(bearer("read"));
      assert.deepEqual([name, how, answer.status, answer.body], [name, how, body === null ? 404 : 200, body ?? ""]);
      assert.equal(effects(counted).includes("misrouted"), body === null);
      assert.equal((await send({})).status, 401);
      counted.splice(0);
    }
    const below = await started(inside, "/orders");
    assert.deepEqual([(await below(bearer("read"))).status, (await below(bearer("read"), "/orders/7")).body], [404, "order"]);
    const before = started(async (app) => {
      await app.register(plugin);
      await app.register(fastify(gate));
      app.use(goOn).use("/docs", secret);
    });
    await assert.rejects(async () => before, / does not see handlers of `use`, .*: \/docs$/);
  }
  const proxy = started((app) => app.register(fastify(gate)).register(require("@fastify/http-proxy"), { upstream: "http://127.0.0.1:1", prefix: "/orders" }));
  await assert.rejects(async () => proxy, / lacks .* GET \/orders\/\{\*\} \(decided as GET \/orders\/\{id\}\)/);
});

test("a CORS preflight reaches only routes of Fastify that take just OPTIONS", async (context) => {
  const { gate } = await gated(context, orders(), { corsPreflight: "pass" });
  const statusOf = async (/** @type {any} */ method) => {
    const app = require("fastify").fastify();
    context.after(() => app.close());
    await app.register(fastify(gate, { check: false }));
    app.route({ method, url: "/orders/:id", handler: async ({ method }) => `${method} handled` });
    return (await app.inject({ method: "OPTIONS", url: "/orders/7", headers: PREFLIGHT })).statusCode;
  };
  assert.deepEqual([await statusOf("OPTIONS"), await statusOf(["GET", "OPTIONS"]), await statusOf("GET")], [200, 404, 404]);
});

test("a route of Fastify with constraints is unknown", async (context) => {
  const { gate, bearer } = await gated(context, orders());
  const made = async (/** @type {boolean} */ check) => {
    const app = require("fastify").fastify();
    context.after(() => app.close());
    await app.register(fastify(gate, { check }));
    app.get("/orders/:id", async () => "order");
    app.route({ method: "GET", url: "/orders/:id", constraints: { host: "admin.example" }, handler: async () => "administration" });
    return app;
  };
  const app = await made(false);
  const statusOf = async (/** @type {string} */ host) => (await app.inject({ url: "/orders/7", headers: { ...bearer("read"), host } })).statusCode;
  assert.deepEqual([await statusOf("shop.example"), await statusOf("admin.example")], [200, 404]);
  await assert.rejects(async () => (await made(true)).ready(), / constraints .*: GET \/orders\/:id$/);
});

test("a handler of Hono with `next` answers at the decided route only", async (context) => {
  const lines = /** @type {string[]} */ ([]);
  const { gate, counted, bearer } = await gated(context, orders(), { public: ["GET /docs/{page}"], audit: (line) => void lines.push(line) });
  const [{ Hono }, { mount }] = await Promise.all(["hono", "hono/mount"].map((/** @type {any} */ name) => import(name)));
  const legacy = new Hono().get("/export", (/** @type {any} */ c) => c.text("export")).get("/secret", (/** @type {any} */ c) => c.text("secret"));
  const withNext = async (/** @type {any} */ c, /** @type {any} */ _next) => c.text("with next");
  const goOn = async (/** @type {any} */ _, /** @type {() => Promise<void>} */ next) => next();
  const seemsToAnswer = (/** @type {[any, () => Promise<void>]} */ ...all) => goOn(...all);
  const order = (/** @type {any} */ c) => c.text("order");
  /** @type {[string, (app: any) => unknown, number][]} */
  const table = [
    ["a mounted service", (app) => app.mount("/orders", legacy.fetch), 404],
    ["one with options", (app) => app.mount("/orders", legacy.fetch, { replaceRequest: false }), 404],
    ["one of hono/mount", (app) => app.all("/orders/*", mount(legacy.fetch)), 404],
    ["one with its own errors", (app) => app.route("/orders", new Hono().mount("/", legacy.fetch).onError(() => new Response())), 404],
    ["for all methods", (app) => app.all("/orders/export", withNext), 404],
    ["for one method, with a wildcard", (app) => app.get("/orders/*", withNext), 404],
    ["for one method, everywhere", (app) => app.get("*", withNext), 404],
    ["for two methods", (app) => app.on(["GET", "POST"], "/orders/export", withNext), 404],
    ["at the route", (app) => app.all("/orders/:id", goOn), 200],
    ["middleware everywhere", (app) => app.use(goOn), 200],
    ["middleware below a path", (app) => app.use("/orders/*", goOn), 200],
    ["middleware below a parameter", (app) => app.use("/:any/*", goOn).use("/*/:id/*", goOn), 200],
    ["with next, below another path", (app) => app.use("/orders/export/*", withNext), 404],
    ["for all methods, below another path", (app) => app.all("/orders/:id{ex.*}/*", withNext), 404],
    ["below another path, after the route", (app) => app.get("/orders/:id", order).use("/orders/export/*", withNext), 200],
  ];
  for (const [name, add, status] of table) {
    const app = new Hono().use(hono(gate));
    add(app);
    app.get("/orders/:id", order).get("/docs/:page", order);
    const response = await app.request("/orders/export", { headers: bearer("read") });
    assert.deepEqual([name, response.status, await response.text()], [name, status, status === 200 ? "order" : ""]);
    const effect = status === 200 ? "allow" : "deny";
    assert.deepEqual([name, audited(lines), effects(counted)[0]?.split(" ")[0]], [name, [effect], effect]);
  }
  // A function that only seems to answer goes on: an allow is noted, and then the denial.
  const passing = new Hono().use(hono(gate)).use("/orders/:id", seemsToAnswer).get("/orders/export", () => assert.fail("reached"));
  assert.equal((await passing.request("/orders/export", { headers: bearer("read") })).status, 404);
  assert.deepEqual(audited(lines), ["allow", "deny"]);
  const bundled = await require("esbuild").build({
    stdin: { contents: 'export { Hono } from "hono"; export { mount } from "hono/mount";', resolveDir: __dirname }, bundle: true, minify: true, format: "esm", write: false,
  });
  const minified = await import(`data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0]?.contents ?? "").toString("base64")}`);
  for (const add of /** @type {((app: any) => any)[]} */ ([(app) => app.mount("/orders", legacy.fetch), (app) => app.all("/orders/*", minified.mount(legacy.fetch))])) {
    const app = add(new minified.Hono().use(hono(gate))).get("/orders/:id", order);
    assert.equal((await app.request("/orders/export", { headers: bearer("read") })).status, 404);
  }
  const app = new Hono().use(hono(gate)).mount("/docs", legacy.fetch).get("/docs/:page", order);
  assert.equal((await app.request("/docs/secret")).status, 404);
  const undeclared = gate.checkRoutes(routesOf(app)).filter(({ kind }) => kind === "undeclared").map(({ route }) => route);
  assert.ok(undeclared.includes("ALL /docs/{*}"), undeclared.join());
});

test("a CORS preflight reaches only handlers of Hono that take just OPTIONS", async (context) => {
  const { gate, counted } = await gated(context, orders(), { corsPreflight: "pass" });
  const { Hono } = await import(/** @type {string} */ ("hono"));
  const handler = (/** @type {any} */ c) => c.text("handled");
  const statusOf = async (/** @type {(app: any) => unknown} */ add) => {
    const app = new Hono().use(hono(gate));
    add(app);
    return (await app.request("/orders/7", { method: "OPTIONS", headers: PREFLIGHT })).status;
  };
  assert.equal(await statusOf((app) => app.all("/orders/:id", handler)), 404);
  assert.deepEqual(effects(counted), ["deny no_route", "misrouted"]);
  assert.equal(await statusOf((app) => app.options("/orders/:id", handler)), 200);
  // Hono's own support has no route. Before the gate, it answers; after it, nothing tells that it will.
  const { cors } = await import(/** @type {string} */ ("hono/cors"));
  const outside = new Hono().use(cors({ origin: PREFLIGHT.origin })).use(hono(gate)).get("/orders/:id", handler);
  const { status, headers } = await outside.request("/orders/7", { method: "OPTIONS", headers: PREFLIGHT });
  assert.deepEqual([status, headers.get("access-control-allow-origin")], [204, PREFLIGHT.origin]);
  assert.equal(await statusOf((app) => app.use(cors()).get("/orders/:id", handler)), 404);
  assert.equal(await statusOf((app) => app.all("/orders/:id", async (/** @type {any} */ _, /** @type {any} */ next) => next()).options("/orders/:id", handler)), 404);
  // The Fetch API has no routes: the answer says it, and the service looks.
  const answer = await gate.answer({
    method: "OPTIONS", target: "/orders/7", authorization: [], upgrade: [], origin: ["https://a.example"], accessControlRequestMethod: ["GET"], headerNames: [],
  });
  assert.deepEqual([answer.isAllow, answer.preflight], [true, true]);
  assert.equal(await refusal(gate, new Request("http://a/orders/7", { method: "OPTIONS", headers: PREFLIGHT })), undefined);
});

test("a route with a pattern in a parameter is reported if another route has its shape", async (context) => {
  const { gate } = await gated(context, orders());
  const { Hono } = await import(/** @type {string} */ ("hono"));
  const handler = (/** @type {any} */ c) => c.text("handled");
  const undeclared = (/** @type {any} */ app) => gate.checkRoutes(routesOf(app)).filter(({ kind }) => kind === "undeclared").map(({ route, decidedAs }) => [route, decidedAs]);
  const expected = [["GET /orders/:z(export|a)", "GET /orders/{id}"]];
  assert.deepEqual(undeclared(new Hono().use(hono(gate)).get("/orders/:z{export|a}", handler).get("/orders/:id", handler)), expected);
  assert.deepEqual(undeclared(express4().use(middleware(gate)).get("/orders/:z(export|a)", handler).get("/orders/:id", handler)), expected);
  // Alone, it is how the service writes the policy's route.
  assert.deepEqual(undeclared(new Hono().use(hono(gate)).get("/orders/:id{[0-9]+}", handler).post("/orders/:id", handler).get("/orders", handler)), [
    ["POST /orders/{id}", null], ["GET /orders", null],
  ]);
  const app = require("fastify").fastify();
  context.after(() => app.close());
  await app.register(fastify(gate));
  app.get("/orders/:id", async () => "order").get("/orders/:z(export|a)", async () => "export");
  await assert.rejects(async () => app.ready(), / lacks .*: GET \/orders\/:z\(export\|a\) \(.* GET \/orders\/\{id\}\)$/);
});
