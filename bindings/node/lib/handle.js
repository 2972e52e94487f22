"use strict";
const { Engine } = require("./engine.js");

// A thread of JavaScript does one thing at a time: a decision ends before anything else can swap the engine.
class Handle {
  #engine;

  /** @param {InstanceType<typeof Engine>} engine */
  constructor(engine) {
    this.#engine = checked(engine);
  }

  load() {
    return this.#engine;
  }

  /** @param {InstanceType<typeof Engine>} engine */
  store(engine) {
    const before = this.#engine;
    this.#engine = checked(engine);
    return before;
  }

  /**
   * @param {import("../index.js").Text} method
   * @param {import("../index.js").Text} target
   * @param {import("../index.js").Token | null} token
   * @param {import("../index.js").DecideOptions} [options]
   */
  decide(method, target, token, options) {
    return this.#engine.decide(method, target, token, options);
  }
}

/** @param {InstanceType<typeof Engine>} engine */
function checked(engine) {
  if (!(engine instanceof Engine)) {
    throw new TypeError("a handle holds an Engine");
  }
  return engine;
}

module.exports = { Handle };
