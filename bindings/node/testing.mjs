// The same for `import`.
export { startIssuer } from "./testing.js";
