// The same for `import`.
export { Gate, Allowed, allowed, findAllowed, guard, listener, middleware, fastify, hono, refusal, routesOf } from "./gate.js";
