// The same classes for `import`: one copy of everything, however a program is mixed.
export { Engine, Handle, ScopeSet, Column, Tokens, Decisions, OrbgateError, PolicyError, tokenKind, version } from "./index.js";
