"use strict";
// Random numbers for tests by seed.

/** Numbers below a bound, the same for the same seed: SplitMix32. @param {number} seed */
function randomOf(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return Math.floor((((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32) * below);
  };
}

module.exports = { randomOf };
