// The module's functions as engines and questions; index.d.ts documents it.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class OrbgateError extends Error {
  name = "OrbgateError";

  constructor({ status, message, diagnostics }) {
    super(message);
    this.status = status;
    this.diagnostics = diagnostics;
  }
}

export class Orbgate {
  #exports;

  constructor(module) {
    this.#exports = new WebAssembly.Instance(module, {}).exports;
  }

  about() {
    return JSON.parse(this.#answer(this.#exports.orbgate_wasm_about()));
  }

  get size() {
    return this.#exports.memory.buffer.byteLength;
  }

  load(policy) {
    this.#write(encoder.encode(policy));
    const { engine, policy: digest } = JSON.parse(this.#answer(this.#exports.orbgate_wasm_load()));
    return new Engine(this, engine, digest);
  }

  fixes(policy) {
    this.#write(encoder.encode(policy));
    return JSON.parse(this.#answer(this.#exports.orbgate_wasm_fixes())).fixes;
  }

  /** What `Engine` calls. */
  call(engine, question, given) {
    const name = encoder.encode(question);
    const input = encoder.encode(given);
    const both = new Uint8Array(name.length + input.length);
    both.set(name);
    both.set(input, name.length);
    this.#write(both);
    return this.#answer(this.#exports.orbgate_wasm_ask(engine, name.length));
  }

  /** What `Engine` calls. */
  test(engine, file) {
    this.#write(encoder.encode(file));
    return JSON.parse(this.#answer(this.#exports.orbgate_wasm_test(engine)));
  }

  /** What `Engine` calls when it is closed. */
  unload(engine) {
    this.#exports.orbgate_wasm_unload(engine);
  }

  #write(bytes) {
    const at = this.#exports.orbgate_wasm_input(bytes.length) >>> 0;
    if (at === 0) {
      throw new RangeError(`the module cannot allocate ${bytes.length} bytes`);
    }
    // The memory may have grown, and then an older view of it is empty.
    new Uint8Array(this.#exports.memory.buffer).set(bytes, at);
  }

  #answer(status) {
    const at = this.#exports.orbgate_wasm_answer() >>> 0;
    const length = this.#exports.orbgate_wasm_answer_len() >>> 0;
    const text = decoder.decode(new Uint8Array(this.#exports.memory.buffer, at, length));
    if (status !== 0) {
      throw new OrbgateError(JSON.parse(text));
    }
    return text;
  }
}

class Engine {
  #module;
  #engine;

  constructor(module, engine, policy) {
    this.#module = module;
    this.#engine = engine;
    this.policy = policy;
  }

  ask(question, given = {}) {
    return read(this.askJson(question, JSON.stringify(given)));
  }

  askJson(question, given = "{}") {
    return this.#module.call(this.#engine, question, given);
  }

  test(file) {
    return this.#module.test(this.#engine, file);
  }

  close() {
    this.#module.unload(this.#engine);
  }
}

// Amounts reach 2^63 - 1, which a number can't hold. Inside a JSON string each quote has a backslash, so only members match.
export function read(json) {
  const quoted = json.replace(/"amount":(\d+)/g, '"amount":"$1"');
  return JSON.parse(quoted, (key, value) => (key === "amount" && typeof value === "string" ? BigInt(value) : value));
}
