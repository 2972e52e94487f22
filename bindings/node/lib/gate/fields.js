"use strict";
// What messages.js is made of: messages, their fields, and how they are written and read.
const { CRITICAL, HEAD, Kept, bytesAt, integerAt, sizeAt, textAt } = require("./wire.js");

/** @typedef {InstanceType<typeof import("./wire.js").Writer>} Writer */
/** @typedef {import("../../index.js").Text} Text */
/** Reads a value, with a view of the same memory; `null` if it isn't one. @template Of @typedef {(bytes: Uint8Array, view: DataView, start: number, end: number) => Of | null} Read */
/** Writes a value that is there. @template Of @typedef {(to: Writer, number: number, of: Of) => void} Put */

/**
 * A field: its number on the wire, its value if it is absent, how it or an item of a list is read, and how it is written. All have the same
 * properties in the same order, which takes V8 less time.
 * @template Of
 * @typedef {{ name: string, tag: number, empty: Of, isList: boolean, take: Read<any>, put: Put<any> }} Field
 */

/** @typedef {Readonly<Record<string, Field<any>>>} Fields */

/** As it is written. @template Of @typedef {Of extends Message<infer N, infer F> ? { number: N } & { [Name in keyof F]?: F[Name] extends Field<infer V> ? V : never } : never} Given */
/** As it is read. @template Of @typedef {Of extends Message<infer N, infer F> ? { number: N } & { [Name in keyof F]: F[Name] extends Field<infer V> ? V : never } : never} Made */
/** The fields of a part. @template Of @typedef {Omit<Of, "number">} Part */

/** @template {number} const N @template {Fields} F */
class Message {
  /** @type {readonly Field<any>[]} */
  #fields;
  /** By their numbers. @type {(Field<any> | null)[]} */
  #numbered = new Array(32).fill(null);
  /** @type {Record<string, any>} */
  #empty;
  /** @type {readonly string[]} */
  #lists;

  /** @param {N} number 0 of a part @param {F} fields */
  constructor(number, fields) {
    this.number = number;
    this.#fields = Object.entries(fields).map(([name, field]) => ({ ...field, name }));
    this.#fields.forEach((field) => (this.#numbered[field.tag & 31] = field));
    const empty = this.#fields.map(({ name, empty }) => [name, empty]);
    this.#empty = Object.fromEntries(number === 0 ? empty : [["number", number], ...empty]);
    this.#lists = this.#fields.filter(({ isList }) => isList).map(({ name }) => name);
  }

  /** @param {Writer} to @param {Record<string, any>} of */
  put(to, of) {
    for (const { name, tag, put } of this.#fields) {
      const value = of[name];
      if (value !== undefined) {
        put(to, tag, value);
      }
    }
  }

  /** `null` if it isn't one, or if it has something unknown and critical. @type {Read<any>} */
  read(bytes, view, start, end) {
    const of = { ...this.#empty };
    for (const name of this.#lists) {
      of[name] = [];
    }
    let seen = 0;
    for (let at = start; at < end;) {
      const size = sizeAt(view, at, end);
      if (size < 0) {
        return null;
      }
      const tag = view.getInt32(at, true);
      const from = at + HEAD;
      at = from + size;
      const field = this.#numbered[tag & 31];
      if (field === null || field.tag !== tag) {
        if (tag < 0) {
          return null;
        }
        continue;
      }
      const value = field.take(bytes, view, from, at);
      const bit = 1 << tag;
      if (value === null || (seen & bit) !== 0) {
        return null;
      }
      if (field.isList) {
        of[field.name].push(value);
      } else {
        seen |= bit;
        of[field.name] = value;
      }
    }
    return of;
  }
}

/** @template Of @param {number} tag @param {Of} empty @param {Read<any>} take @param {Put<any>} put @returns {Field<Of>} */
const field = (tag, empty, take, put) => ({ name: "", tag, empty, isList: Array.isArray(empty), take, put });

/** @type {Read<string>} */
const string = (bytes, _, from, to) => textAt(bytes, from, to);

/** @type {Put<Text>} */
const putText = (to, number, value) => to.text(number, value);

/** What only one side does. */
const never = () => null;

/**
 * What is exported of messages: their numbers, and how a question is written and an answer read.
 * @template {Readonly<Record<string, Message<number, any>>>} Q
 * @template {Readonly<Record<string, Message<number, any>>>} A
 * @param {Q} questions
 * @param {A} answers
 */
function messages(questions, answers) {
  const all = { ...questions, ...answers };
  const numbers = Object.entries(all).map(([name, { number }]) => [name, number]);
  const numbered = (/** @type {Q | A} */ some) => new Map(Object.values(some).map((message) => [message.number, message]));
  const [numberedQuestions, numberedAnswers] = [numbered(questions), numbered(answers)];
  return {
    /** The numbers of questions and answers. */
    MESSAGES: /** @type {{ readonly [Name in keyof (Q & A)]: (Q & A)[Name]["number"] }} */ (Object.freeze(Object.fromEntries(numbers))),
    /** Writes a question. @param {Writer} to @param {Given<Q[keyof Q]>} question */
    write: (to, question) => {
      const start = to.open(question.number);
      numberedQuestions.get(question.number)?.put(to, question);
      to.close(start);
    },
    /** Reads an answer; `null` if it isn't one, or if it has something unknown and critical. @type {Read<Made<A[keyof A]>>} */
    read: (bytes, view, start, end) => {
      const size = sizeAt(view, start, end);
      const from = start + HEAD;
      return size < 0 || from + size !== end ? null : (numberedAnswers.get(view.getInt32(start, true))?.read(bytes, view, from, end) ?? null);
    },
  };
}

const NOTHING = new Uint8Array(0);

module.exports = {
  Message,
  messages,
  /** @param {number} number */
  integer: (number) => field(number, 0, (_, view, from, to) => (to - from === 8 ? integerAt(view, from) : null), (to, tag, value) => to.integer(tag, value)),
  /** @param {number} number */
  flag: (number) => field(number, /** @type {boolean} */ (false), (_, __, from, to) => (to === from ? true : null), (to, tag, value) => to.flag(tag, value)),

  // Of questions.
  /** @param {number} number @returns {Field<Text>} */
  text: (number) => field(number, "", never, putText),
  /** Absent isn't the same as empty. @param {number} number @returns {Field<Text>} */
  optional: (number) => field(number, "", never, (to, tag, value) => to.optional(tag, value)),
  /** @param {number} number @returns {Field<readonly Text[]>} */
  texts: (number) => field(number, [], never, (to, tag, values) => to.texts(tag, values)),
  /** @template {Fields} F @param {number} number @param {Message<0, F>} part @returns {Field<readonly Part<Given<Message<0, F>>>[]>} */
  given: (number, part) => {
    const put = (/** @type {Writer} */ to, /** @type {any} */ value) => part.put(to, value);
    return field(number, [], never, (to, tag, values) => to.parts(tag, values, put));
  },

  // Of answers.
  /** @param {number} number */
  string: (number) => field(number, "", string, never),
  /** A string that answer after answer has. @param {number} number */
  kept: (number) => {
    const kept = new Kept();
    return field(number, "", (bytes, _, from, to) => kept.at(bytes, from, to), never);
  },
  /** @param {number} number */
  bytes: (number) => field(number, NOTHING, (bytes, _, from, to) => bytesAt(bytes, from, to), never),
  /** @template {Fields} F @param {number} number @param {Message<0, F>} part @returns {Field<Part<Made<Message<0, F>>>>} */
  part: (number, part) => field(number, /** @type {any} */ (null), (...given) => part.read(...given), never),
  /** @template {Fields} F @param {number} number @param {Message<0, F>} part @returns {Field<Part<Made<Message<0, F>>>[]>} */
  parts: (number, part) => field(number, /** @type {any} */ ([]), (...given) => part.read(...given), never),
  /** @template Of @param {Field<Of>} field @returns {Field<Of | null>} */
  nullable: (field) => ({ ...field, empty: null }),
  /** @template {Field<any>} F @param {F} field @returns {F} */
  critical: (field) => ({ ...field, tag: CRITICAL | field.tag }),
};
