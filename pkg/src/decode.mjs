// @ts-check
// A 402 in each of its forms, decoded by the core. Entries come back as the caller's own objects.

import { MOST_VIEW_MS, readView } from "./body.mjs";
import { ready } from "./boot.mjs";
import { InvalidPaymentRequiredError, PayrouteError, callCore, invalidArgument } from "./errors.mjs";
import { Unwritable, Written, isPlain, write } from "./json.mjs";
import { readOptions, readSignal } from "./options.mjs";

/** @typedef {import("../wasm/core.js").Payment} Payment */
/**
 * @typedef {{ decode(headers: string | undefined, body: Uint8Array): Payment, bodyLimit(): number }} Decoder the core's
 *   module, with the default limits, or a selector of the core, with its own
 * @typedef {{ payment: Payment, entry(index: number, json: string): unknown }} Decoded `entry` returns the merchant's
 *   entry, given its index and exact text
 */

/** The largest limit of a body that can be configured, in bytes. A character takes at least one. */
const MOST_TEXT = 1 << 24;

/** The headers that terms are read from, in this order; the body comes after the first. */
const CANONICAL = "payment-required";
const OTHERS = ["x-payment-required", "x-payment-requirements"];

const NOTHING = new Uint8Array();
const NO_BODY = { bytes: NOTHING, cut: false };
const encoder = new TextEncoder();

/**
 * Decodes any accepted input. The caller frees `payment`.
 * @param {unknown} input
 * @param {Decoder} decoder
 * @param {AbortSignal} [signal] ends the reading of a body
 * @returns {Promise<Decoded>}
 */
export async function decode(input, decoder, signal) {
  if (typeof input === "string") return original(decodeText(input, decoder));
  if (isResponse(input)) return original(await decodeResponse(input, decoder, signal));
  return decodeObject(input, decoder);
}

/**
 * @param {unknown} input
 * @param {import("../index.d.ts").ParseOptions | null} [options]
 */
export async function parsePaymentRequired(input, options) {
  const signal = readSignal(readOptions(options, ["signal"]).signal);
  const core = await ready();
  signal?.throwIfAborted();
  const { payment, entry } = await decode(input, core, signal);
  try {
    signal?.throwIfAborted();
    const description = JSON.parse(payment.describe());
    description.json = payment.json();
    for (const requirement of description.requirements) {
      requirement.requirement = entry(requirement.index, requirement.json);
    }
    return description;
  } finally {
    payment.free();
  }
}

/**
 * @param {string} text
 * @param {Decoder} decoder
 */
function decodeText(text, decoder) {
  return callCore(() => decoder.decode(undefined, encoder.encode(bounded(text))));
}

/**
 * Cuts a text that is too long, but not so far that the core would accept it: the module's memory never shrinks.
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
 * @param {Decoder} decoder
 * @returns {Decoded}
 */
function decodeObject(input, decoder) {
  if (typeof input !== "object" || input === null) {
    throw invalidArgument("paymentRequired", "an object, a header's value or a Response");
  }
  const list = Array.isArray(input);
  // Read once, so that the list that is decoded and the list that is handed back are the same.
  const accepts = list ? input : Object.hasOwn(input, "accepts") ? /** @type {{ accepts: unknown }} */ (input).accepts : undefined;
  const entries = Array.isArray(accepts) ? [...accepts] : undefined;
  const readable = entries && writeEntries(entries, list ? "" : "accepts");
  const text = written(list ? readable : withAccepts(input, readable ?? accepts));
  return { payment: decodeText(text, decoder), entry: (index) => entries?.[index] };
}

/**
 * @param {object} input
 * @param {unknown} accepts
 */
function withAccepts(input, accepts) {
  // A document may have a field named toJSON; `write` refuses only a method.
  if (!isPlain(input) || typeof (/** @type {{ toJSON?: unknown }} */ (input).toJSON) === "function") return input;
  const copy = Object.create(null);
  for (const key of Object.keys(input)) {
    copy[key] = key === "accepts" ? accepts : /** @type {Record<string, unknown>} */ (input)[key];
  }
  return copy;
}

/**
 * Writes each entry by itself, so that one that JSON cannot hold does not spoil the others.
 * @param {unknown[]} entries
 * @param {string} path
 */
function writeEntries(entries, path) {
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
 * Reads only the canonical header if that suffices, because a body may be long, or never end. The body that the caller
 * has stays unread.
 * @param {ResponseLike} response
 * @param {Decoder} decoder
 * @param {AbortSignal} [signal]
 */
async function decodeResponse(response, decoder, signal) {
  const canonical = headerLines(response, [CANONICAL]);
  if (canonical !== "") {
    try {
      const payment = callCore(() => decoder.decode(canonical, NOTHING));
      if (!payment.coerced) return payment;
      // A whole document elsewhere, which states the version, comes before a list without an envelope.
      payment.free();
    } catch (error) {
      if (!PayrouteError.is(error)) throw error;
    }
  }
  const headers = canonical + headerLines(response, OTHERS);
  if (response.bodyUsed && headers === "") {
    throw new InvalidPaymentRequiredError("the response has no payment header and its body was read already; pass the response first, or the parsed body");
  }
  const limit = decoder.bodyLimit();
  const { bytes, cut } = response.bodyUsed ? NO_BODY : await bodyOf(response, limit, headers !== "", signal);
  try {
    // For a body past the limit: one byte too many, so that the core gives its usual error.
    return callCore(() => decoder.decode(headers, bytes ?? new Uint8Array(limit + 1)));
  } catch (error) {
    throw cut && error instanceof InvalidPaymentRequiredError ? cutShort(error) : error;
  }
}

/**
 * The same error, which also says that the body was not read to its end.
 * @param {InvalidPaymentRequiredError} error
 */
function cutShort({ message, carriers, entries }) {
  let text = message;
  const failures = carriers.map((failure) => {
    if (failure.carrier !== "body") return failure;
    const problem = `was not read to its end within ${MOST_VIEW_MS / 1_000} s, and what came ${failure.problem}`;
    text = text.replace(`response body ${failure.problem}`, () => `response body ${problem}`);
    return { ...failure, problem };
  });
  return new InvalidPaymentRequiredError(text, failures, entries);
}

/**
 * The body, read from a clone.
 * @param {ResponseLike} response
 * @param {number} limit
 * @param {boolean} dispensable whether there are headers to decode without it
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
 * One header a line, as the core takes them. A line break within a value becomes a space.
 * @param {ResponseLike} response
 * @param {readonly string[]} names
 */
function headerLines(response, names) {
  let lines = "";
  for (const name of names) {
    const value = response.headers.get(name);
    if (typeof value === "string") lines += `${name}:${value.replaceAll("\n", " ")}\n`;
  }
  return lines;
}
