"use strict";
// The package's numbers of the C ABI are those of the library's crate.
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const koffi = require("koffi");
const { structs, sizes } = require("../lib/library.js");
const { BATCH, TOKEN } = require("../lib/layout.js");

// `cargo xtask test node` runs a copy of the package elsewhere.
const list = process.env.ORBGATE_LAYOUT ?? path.join(__dirname, "../../../crates/orbgate-capi/layout.tsv");

/** A number of the list, by its kind and name. */
const facts = new Map(fs.readFileSync(list, "utf8").split("\n").map((line) => {
  const [kind, name, number] = line.split("\t");
  return [`${kind} ${name}`, Number(number)];
}));

// The list is for pointers of 64 bits.
test("structs have their fields where the library has them", { skip: sizes.Pointer !== 8 }, () => {
  for (const [name, type] of Object.entries(structs)) {
    const { members } = koffi.introspect(type);
    const fields = Object.keys(members ?? {});
    assert.ok(fields.length >= 2, name);
    for (const field of fields) {
      assert.equal(koffi.offsetof(type, field), facts.get(`offset ${name}.${field}`), `${name}.${field}`);
    }
    const [first, most] = [facts.get(`first_size ${name}`), facts.get(`size ${name}`)];
    const size = koffi.sizeof(type);
    assert.ok(size >= (first ?? Number(most)) && size <= Number(most), `${name} has ${size} bytes`);
  }
});

test("structs that are written here have their fields there, too", { skip: sizes.Pointer !== 8 }, () => {
  for (const [name, { count, ...fields }] of Object.entries({ OrbgateBatch: BATCH, OrbgateToken: TOKEN })) {
    for (const [field, at] of Object.entries(fields)) {
      assert.equal(8 + 8 * at, facts.get(`offset ${name}.${field}`), `${name}.${field}`);
    }
    assert.equal(8 + 8 * count, facts.get(`size ${name}`), name);
  }
});
