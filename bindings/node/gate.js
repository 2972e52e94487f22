"use strict";
// The public interface of the gate; gate.d.ts documents it.
const { Gate } = require("./lib/gate/gate.js");
const { Allowed, allowed, findAllowed } = require("./lib/gate/allowed.js");
const { guard, listener, middleware } = require("./lib/gate/http.js");
const { fastify } = require("./lib/gate/fastify.js");
const { Ledger } = require("./lib/gate/ledger.js");
const { hono } = require("./lib/gate/hono.js");
const { PrometheusCounters } = require("./lib/gate/prometheus.js");
const { refusal } = require("./lib/gate/web.js");
const { routesOf } = require("./lib/gate/routes.js");

module.exports = { Gate, Ledger, PrometheusCounters, Allowed, allowed, findAllowed, guard, listener, middleware, fastify, hono, refusal, routesOf };
