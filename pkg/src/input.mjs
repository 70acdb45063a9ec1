// @ts-check
// The 402 in each of its forms, decoded by the core, with the way back to the caller's own objects.

import { MOST_VIEW_MS, readView } from "./body.mjs";
import { InvalidPaymentRequiredError, PayrouteError, attempt } from "./errors.mjs";
import { Task } from "../wasm/core.js";
import { Unwritable, Written, isPlain, write } from "./json.mjs";

/** @typedef {import("../wasm/core.js").Payment} Payment */
/** @typedef {import("../wasm/core.js").Selector} Core */
/** @typedef {{ payment: Payment, entry(index: number, json: string): unknown }} Decoded `entry` is the merchant's, of its place and its exact text */

/** Characters, at least a byte each: one more than any limit of a body. */
const MOST_TEXT = 1 << 24;

/** Where terms are looked for, in this order; the body comes after the first. */
const CANONICAL = "payment-required";
const OTHERS = ["x-payment-required", "x-payment-requirements"];

const NOTHING = new Uint8Array();
const NO_BODY = { bytes: NOTHING, cut: false };
const encoder = new TextEncoder();

/**
 * Decodes any accepted input. The caller frees `payment`.
 * @param {unknown} input
 * @param {Core} core
 * @param {AbortSignal} [signal] ends the reading of a body
 * @returns {Promise<Decoded>}
 */
export async function decode(input, core, signal) {
  if (typeof input === "string") return original(decodeText(input, core));
  if (isResponse(input)) return original(await decodeResponse(input, core, signal));
  return ofObject(input, core);
}

/**
 * @param {string} text
 * @param {Core} core
 */
function decodeText(text, core) {
  return attempt(() => core.decode(undefined, encoder.encode(bounded(text))));
}

/**
 * No more than the core needs to refuse it: the module's memory grows for good. 2^24 is the most
 * that any limit can be set to.
 * @param {string} text
 */
function bounded(text) {
  return text.length > MOST_TEXT ? text.slice(0, MOST_TEXT + 1) : text;
}

/**
 * Entries are the merchant's text, parsed.
 * @param {Payment} payment
 * @returns {Decoded}
 */
function original(payment) {
  return { payment, entry: (_, json) => JSON.parse(json) };
}

/**
 * Entries are the caller's own objects.
 * @param {unknown} input
 * @param {Core} core
 * @returns {Decoded}
 */
function ofObject(input, core) {
  if (typeof input !== "object" || input === null) {
    const kind = input === null ? "null" : typeof input;
    throw new InvalidPaymentRequiredError(`the payment requirement is ${kind}; accepted is an object, a header's value or a Response`);
  }
  const list = Array.isArray(input);
  // Read once: what is decoded and what is handed back are the same list.
  const accepts = list ? input : Object.hasOwn(input, "accepts") ? /** @type {{ accepts: unknown }} */ (input).accepts : undefined;
  const entries = Array.isArray(accepts) ? [...accepts] : undefined;
  const sound = entries && apart(entries, list ? "" : "accepts");
  const text = written(list ? sound : withAccepts(input, sound ?? accepts));
  return { payment: decodeText(text, core), entry: (index) => entries?.[index] };
}

/**
 * @param {object} input
 * @param {unknown} accepts
 */
function withAccepts(input, accepts) {
  // A document may have a field of that name; only a method is asked by JSON.stringify.
  if (!isPlain(input) || typeof (/** @type {{ toJSON?: unknown }} */ (input).toJSON) === "function") return input;
  const copy = Object.create(null);
  for (const key of Object.keys(input)) {
    copy[key] = key === "accepts" ? accepts : /** @type {Record<string, unknown>} */ (input)[key];
  }
  return copy;
}

/**
 * Each entry by itself: one that JSON cannot hold is unreadable and spoils none of the others.
 * @param {unknown[]} entries
 * @param {string} path
 */
function apart(entries, path) {
  /** @type {unknown} */
  let problem;
  const texts = entries.map((entry, index) => {
    try {
      return new Written(written(entry, `${path}[${index}]`));
    } catch (error) {
      if (!PayrouteError.is(error)) throw error;
      problem ??= error;
      return null;
    }
  });
  if (problem !== undefined && texts.every((text) => text === null)) throw problem;
  return texts;
}

/**
 * @param {unknown} value
 * @param {string} [root]
 */
function written(value, root = "") {
  try {
    return write(value, { root, skipUndefined: false });
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    const path = error.path === "" ? "the payment requirement" : error.path;
    throw new InvalidPaymentRequiredError(`${path} ${error.problem}`);
  }
}

/**
 * @typedef {import("../index.d.ts").ResponseLike} ResponseLike
 * @param {unknown} value
 * @returns {value is ResponseLike}
 */
function isResponse(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { headers, clone } = /** @type {{ headers?: { get?: unknown }, clone?: unknown }} */ (value);
  return typeof headers?.get === "function" && typeof clone === "function";
}

/**
 * The canonical header alone where it suffices: a body may be long, or never end. The caller's own
 * body stays unread.
 * @param {ResponseLike} response
 * @param {Core} core
 * @param {AbortSignal} [signal]
 */
async function decodeResponse(response, core, signal) {
  const canonical = carried(response, [CANONICAL]);
  if (canonical !== "") {
    try {
      const payment = attempt(() => core.decode(canonical, NOTHING));
      if (!payment.coerced) return payment;
      // A list without an envelope gives way to a whole document elsewhere, which states the version.
      payment.free();
    } catch (error) {
      if (!PayrouteError.is(error)) throw error;
    }
  }
  const headers = canonical + carried(response, OTHERS);
  if (response.bodyUsed && headers === "") {
    throw new InvalidPaymentRequiredError("the response has no payment header and its body was read already; pass the response first, or the parsed body");
  }
  const limit = Number(core.run(Task.BodyLimit, ""));
  const { bytes, cut } = response.bodyUsed ? NO_BODY : await bodyOf(response, limit, headers !== "", signal);
  try {
    // One byte too many is all that it takes for the core to say so.
    return attempt(() => core.decode(headers, bytes ?? new Uint8Array(limit + 1)));
  } catch (error) {
    throw cut && error instanceof InvalidPaymentRequiredError ? cutOff(error) : error;
  }
}

/**
 * The same, saying of the body that it was not all of it.
 * @param {InvalidPaymentRequiredError} error
 */
function cutOff({ message, carriers, entries }) {
  let text = message;
  const told = carriers.map((failure) => {
    if (failure.carrier !== "body") return failure;
    const problem = `was not read to its end within ${MOST_VIEW_MS / 1_000} s, and what came ${failure.problem}`;
    text = text.replace(`response body ${failure.problem}`, () => `response body ${problem}`);
    return { ...failure, problem };
  });
  return new InvalidPaymentRequiredError(text, told, entries);
}

/**
 * The body of a second view.
 * @param {ResponseLike} response
 * @param {number} limit
 * @param {boolean} dispensable whether there is something to go by without it
 * @param {AbortSignal} [signal]
 */
async function bodyOf(response, limit, dispensable, signal) {
  try {
    return await readView(response, limit, signal);
  } catch (cause) {
    if (dispensable) return NO_BODY;
    const error = new InvalidPaymentRequiredError("the response's body could not be read");
    Object.defineProperty(error, "cause", { value: cause, configurable: true, writable: true });
    throw error;
  }
}

/**
 * A line for each, as the core takes them. A line break within a value is white space.
 * @param {ResponseLike} response
 * @param {readonly string[]} names
 */
function carried(response, names) {
  let lines = "";
  for (const name of names) {
    const value = response.headers.get(name);
    if (typeof value === "string") lines += `${name}:${value.replaceAll("\n", " ")}\n`;
  }
  return lines;
}
