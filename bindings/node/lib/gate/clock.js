"use strict";
// The two clocks of a gate, in whole milliseconds.

/** What tokens are valid by. */
const unixMs = () => Date.now();

/** What keys are fetched by: nobody sets it. */
const monotonicMs = () => Math.floor(performance.now());

module.exports = { unixMs, monotonicMs };
