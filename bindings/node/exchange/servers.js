"use strict";
// A server of each framework, as its users would write it. What its router does not know reaches the same service by a fallback.
const http = require("node:http");
const { once } = require("node:events");
const { pipeline, Readable } = require("node:stream");
const { done, textOf } = require("./done.js");
const { fastify, hono, listener, middleware } = require("orbgate/gate");

/**
 * @typedef {object} Service
 * @property {import("orbgate/gate").Gate | null} gate
 * @property {string[]} templates
 * @property {import("node:http").RequestListener} [handler] instead of the service
 * @property {(method: string, target: string, request: object, more?: object) => string} saw
 * @property {string} host
 * @property {number} port
 */
/** @typedef {(service: Service) => Promise<number>} Serve */

/**
 * A template with what its literals have as this says.
 * @param {string} template
 * @param {(literal: string) => string} literal
 */
const spelled = (template, literal) => template.split("/").map((segment) => (/^:p\d/.test(segment) ? segment : literal(segment))).join("/");

/** Express has patterns; a backslash makes each mark a literal. */
const asExpress = (/** @type {string} */ template) => spelled(template, (segment) => segment.replace(/\W/g, "\\$&"));

/** Fastify has a colon twice, and cannot have an asterisk within a route: the fallback serves that. */
const asFastify = (/** @type {string} */ template) => spelled(template, (segment) => segment.replaceAll(":", "::"));

const JSON_HEADERS = { "content-type": "application/json" };

/**
 * @param {http.RequestListener} listen
 * @param {Service} service
 */
async function serve(listen, { host, port }) {
  const server = http.createServer(listen).listen(port, host);
  await once(server, "listening");
  return /** @type {import("node:net").AddressInfo} */ (server.address()).port;
}

/**
 * The service as `node:http` calls it.
 * @param {Service} service
 * @returns {(request: any, response: any) => void}
 */
const answering = ({ saw }) => (request, response, next = () => response.writeHead(500).end()) => {
  const told = request.headers["x-do"] ?? "";
  const seen = (/** @type {object} */ more) => saw(request.method, request.originalUrl ?? request.url, request, more);
  if (told === "") {
    response.writeHead(200, JSON_HEADERS).end(seen({}));
    return;
  }
  done(told, seen, request, () => textOf(request)).then(({ status, headers = JSON_HEADERS, text, stream }) => {
    response.writeHead(status, headers);
    return stream === undefined ? response.end(text) : pipeline(stream, response, () => {});
  }).catch(next);
};

/** @type {Serve} */
exports.http = (service) => {
  const answer = service.handler ?? answering(service);
  return serve(service.gate === null ? answer : listener(service.gate, answer), service);
};

/** @type {Serve} */
exports.connect = (service) => {
  const app = /** @type {any} */ (require("connect"))();
  return serve(gated(app, service).use(answering(service)), service);
};

/**
 * @param {any} app
 * @param {Service} service
 */
const gated = (app, { gate }) => (gate === null ? app : app.use(middleware(gate)));

/**
 * Every route with a first segment is in a router that is mounted there.
 * @param {any} express
 * @returns {Serve}
 */
const ofExpress = (express) => (service) => {
  const app = gated(express(), service);
  const answer = answering(service);
  for (const template of service.templates.map(asExpress)) {
    const [, mount, rest] = /^(\/[^:/]+)(\/.+)$/.exec(template) ?? [];
    if (mount === undefined) {
      app.all(template, answer);
    } else {
      app.use(mount, express.Router({ caseSensitive: true, strict: true }).all(rest, answer));
    }
  }
  return serve(app.use(answer), service);
};

exports.express = ofExpress(require("express"));
// @ts-expect-error: its types are those of 5
exports.express4 = ofExpress(require("express4"));

/** @type {Serve} */
exports.fastify = async ({ gate, templates, saw, host, port }) => {
  const app = require("fastify").fastify({ routerOptions: { maxParamLength: 8192 } });
  const methods = /** @type {const} */ (["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));
  const answer = async (/** @type {any} */ request, /** @type {any} */ reply) => {
    const seen = (/** @type {object} */ more) => saw(request.method, request.originalUrl, request, more);
    const { status, headers = JSON_HEADERS, text, stream } = await done(request.headers["x-do"] ?? "", seen, request, () => textOf(request.raw));
    return reply.code(status).headers(headers).send(stream ?? text);
  };
  const urls = templates.filter((template) => !template.includes("*")).map(asFastify);
  if (gate !== null) {
    app.register(fastify(gate, { check: false, compare: urls.length === templates.length }));
  }
  app.register(async (api) => urls.forEach((url) => api.route({ method: [...methods], url, handler: answer })));
  app.setNotFoundHandler(answer);
  await app.listen({ host, port });
  return /** @type {import("node:net").AddressInfo} */ (app.server.address()).port;
};

/** @type {Serve} */
exports.hono = async ({ gate, templates, saw, host, port }) => {
  // Their types need those of browsers.
  const [{ Hono }, { serve: listen }] = await Promise.all(["hono", "@hono/node-server"].map((/** @type {any} */ name) => import(name)));
  const app = new Hono();
  if (gate !== null) {
    app.use(hono(gate));
  }
  const answer = async (/** @type {any} */ context) => {
    const { method, url } = context.req.raw;
    const seen = (/** @type {object} */ more) => saw(method, url.slice(url.indexOf("/", 8)), context.req.raw, more);
    const { status, headers = JSON_HEADERS, text, stream } = await done(context.req.header("x-do") ?? "", seen, context.req.raw, () => context.req.text());
    return context.body(stream === undefined ? text : Readable.toWeb(stream), status, headers);
  };
  templates.forEach((template) => app.all(template, answer));
  app.notFound(answer);
  return new Promise((resolve) => {
    listen({ fetch: app.fetch, hostname: host, port }, (/** @type {{ port: number }} */ info) => resolve(info.port));
  });
};
