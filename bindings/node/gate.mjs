// The same for `import`.
export { Gate, Allowed, allowed, listener, middleware, fastify, refusal, routesOf } from "./gate.js";
