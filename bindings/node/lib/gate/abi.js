"use strict";
// The functions of the C library for gates that aren't messages.
const { foreign } = require("../library.js");

const { out, func } = foreign;

const STATUS = "int32_t";

const gates = {
  allowsBonusOrbs: func("orbgate_allows_bonus_orbs", STATUS, ["const char *", "size_t", out("uint8_t")]),
};

module.exports = { gates };
