// @ts-check
// Strict JSON: a value that JSON.stringify would change silently is an error here. Money terms pass through
// this.

/** Deeper than any limit on a payment requirement, and far from exhausting the stack. */
const MOST_NESTING = 128;

/** A value that JSON cannot hold as it is. */
export class Unwritable extends Error {
  /**
   * @param {string} path
   * @param {string} problem
   */
  constructor(path, problem) {
    super(`${path} ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/** JSON that was written before. */
export class Written {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }
}

/**
 * The JSON text of `value`. Each property is read once.
 * @param {unknown} value
 * @param {{ root: string, skipUndefined: boolean }} options `root` names the value in errors;
 *   `skipUndefined` leaves out properties that are undefined, as absent.
 * @returns {string}
 * @throws {Unwritable}
 */
export function write(value, { root, skipUndefined }) {
  return text(value, { root, way: [], around: new Set(), skipUndefined });
}

/**
 * Where the writing is: the `way` from the root by keys and positions, written out for errors alone, and the objects
 * `around`.
 * @typedef {{ root: string, way: (string | number)[], around: Set<object>, skipUndefined: boolean }} Place
 */

/**
 * @param {unknown} value
 * @param {Place} place
 * @returns {string}
 */
function text(value, place) {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "number":
      return number(value, place);
    case "object":
      return value === null ? "null" : compound(value, place);
    case "bigint":
      throw unwritable(place, "is a bigint; amounts are strings of digits");
    default:
      throw unwritable(place, `is ${typeof value === "undefined" ? "" : "a "}${typeof value}, which JSON does not have`);
  }
}

/**
 * @param {Place} place
 * @param {string} problem
 */
function unwritable({ root, way }, problem) {
  const step = (/** @type {string} */ path, /** @type {string | number} */ key) => (typeof key === "number" ? `${path}[${key}]` : join(path, key));
  return new Unwritable(way.reduce(step, root), problem);
}

/**
 * @param {number} value
 * @param {Place} place
 */
function number(value, place) {
  if (!Number.isFinite(value)) throw unwritable(place, `is ${value}, which JSON does not have`);
  if (Object.is(value, -0)) throw unwritable(place, "is negative zero, which JSON.stringify turns into 0");
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw unwritable(place, "is an integer past 2^53, which has been rounded; amounts are strings of digits");
  }
  return String(value);
}

/**
 * @param {object} value
 * @param {Place} place
 */
function compound(value, place) {
  const { around } = place;
  if (value instanceof Written) return value.text;
  if (around.has(value)) throw unwritable(place, "contains itself");
  if (around.size >= MOST_NESTING) throw unwritable(place, `is nested deeper than ${MOST_NESTING}`);
  around.add(value);
  const written = Array.isArray(value) ? array(value, place) : record(value, place);
  around.delete(value);
  return written;
}

/**
 * @param {readonly unknown[]} value
 * @param {Place} place
 */
function array(value, place) {
  const parts = [];
  for (let index = 0; index < value.length; index++) parts.push(inside(index, value[index], place));
  return `[${parts.join(",")}]`;
}

/**
 * @param {object} value
 * @param {Place} place
 */
function record(value, place) {
  if (!isPlain(value)) throw unwritable(place, `is ${describe(value)}, not a plain object`);
  const fields = /** @type {Record<string, unknown>} */ (value);
  if (typeof fields.toJSON === "function") throw unwritable(place, "has a toJSON method");
  const parts = [];
  for (const key of Object.keys(fields)) {
    const field = fields[key];
    if (field === undefined && place.skipUndefined) continue;
    parts.push(`${JSON.stringify(key)}:${inside(key, field, place)}`);
  }
  return `{${parts.join(",")}}`;
}

/**
 * @param {string | number} key
 * @param {unknown} value
 * @param {Place} place
 */
function inside(key, value, place) {
  place.way.push(key);
  const written = text(value, place);
  place.way.pop();
  return written;
}

/**
 * Whether an object is plain. The prototype of one from another realm, such as a frame, ends the chain too.
 * @param {object} value
 */
export function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {object} value */
function describe(value) {
  const name = value.constructor?.name;
  return typeof name === "string" && /^\w{1,40}$/.test(name) ? `an instance of ${name}` : "an instance of a class";
}

/**
 * @param {string} path
 * @param {string} key
 */
export function join(path, key) {
  // A key can be anything: a URL, which is a secret, or text that rewrites the sentence around it.
  const shown = ADDRESS.test(key) || key.length > 80 ? "(a key)" : key.replace(HIDDEN, escaped);
  return path === "" ? shown : `${path}.${shown}`;
}

/** `https:host/key` is a URL too. */
const ADDRESS = /:\/\/|https?:|wss?:/i;
/** Controls, characters without a shape or of a direction, line separators, and halves of characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** @param {string} character */
function escaped(character) {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
