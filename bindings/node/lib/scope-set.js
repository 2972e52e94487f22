"use strict";
const { functions } = require("./library.js");
const { lengthOf } = require("./text.js");
const { check, closed } = require("./errors.js");

const freed = new FinalizationRegistry(functions.scopeSetFree);

/** Only the modules of this package make one. */
const KEY = Symbol("scope set");

/**
 * What only the modules of this package may ask of a set.
 * @type {(set: ScopeSet) => number}
 */
let pointerOf;

class ScopeSet {
  #pointer;

  /**
   * @param {symbol} key
   * @param {number} pointer
   */
  constructor(key, pointer) {
    if (key !== KEY) {
      throw new TypeError("create a scope set with engine.scopeSet(…)");
    }
    this.#pointer = pointer;
    freed.register(this, pointer, this);
  }

  static {
    pointerOf = (set) => {
      if (set.#pointer === 0) {
        throw closed("scope set");
      }
      return set.#pointer;
    };
  }

  close() {
    const pointer = this.#pointer;
    if (pointer !== 0) {
      this.#pointer = 0;
      freed.unregister(this);
      functions.scopeSetFree(pointer);
    }
  }

  [Symbol.dispose]() {
    this.close();
  }
}

/**
 * @param {number} engine
 * @param {import("../index.js").Text | readonly import("../index.js").Text[]} scopes
 */
function intern(engine, scopes) {
  const made = [0];
  if (Array.isArray(scopes)) {
    const list = scopes.map((scope) => ({ data: scope, len: lengthOf(scope) }));
    check(functions.scopeSetFromList(engine, list, list.length, made), "cannot intern scopes");
  } else {
    const text = /** @type {import("../index.js").Text} */ (scopes);
    check(functions.scopeSetFromString(engine, text, lengthOf(text), made), "cannot intern scopes");
  }
  return new ScopeSet(KEY, made[0]);
}

module.exports = { ScopeSet, intern, pointerOf };
