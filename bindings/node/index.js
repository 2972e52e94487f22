"use strict";
// The public interface; index.d.ts documents it.
const { Engine } = require("./lib/engine.js");
const { Handle } = require("./lib/handle.js");
const { ScopeSet } = require("./lib/scope-set.js");
const { Column, Tokens } = require("./lib/column.js");
const { Decisions } = require("./lib/batch.js");
const { OrbgateError, PolicyError } = require("./lib/errors.js");
const { tokenKind } = require("./lib/token.js");
const { version } = require("./lib/library.js");

module.exports = { Engine, Handle, ScopeSet, Column, Tokens, Decisions, OrbgateError, PolicyError, tokenKind, version };
