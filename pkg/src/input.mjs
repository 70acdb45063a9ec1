// @ts-check
// The 402 in each of its forms, decoded by the core, with the way back to the caller's own objects.

import { InvalidPaymentRequiredError, PayrouteError, attempt } from "./errors.mjs";
import { readAtMost } from "./host.mjs";
import { Unwritable, write } from "./json.mjs";

/** @typedef {import("../wasm/core.js").Payment} Payment */
/** @typedef {{ payment: Payment, entry(index: number): unknown }} Decoded */
/** @typedef {{ decode(text: string): Payment, decodeResponse(headers: string[], body: Uint8Array): Payment, bodyLimit: number }} Decoder */

/** Where terms are looked for, in this order; the body comes after the first. */
const CANONICAL = "payment-required";
const OTHERS = ["x-payment-required", "x-payment-requirements"];

/**
 * Decodes any accepted input. The caller frees `payment`.
 * @param {unknown} input
 * @param {Decoder} decoder
 * @returns {Promise<Decoded>}
 */
export async function decode(input, decoder) {
  if (typeof input === "string") return original(attempt(() => decoder.decode(input)));
  if (isResponse(input)) return original(await decodeResponse(input, decoder));
  return ofObject(input, decoder);
}

/**
 * Entries are the merchant's text, parsed.
 * @param {Payment} payment
 * @returns {Decoded}
 */
function original(payment) {
  return { payment, entry: (index) => JSON.parse(payment.json(index) ?? "null") };
}

/**
 * Entries are the caller's own objects.
 * @param {unknown} input
 * @param {Decoder} decoder
 * @returns {Decoded}
 */
function ofObject(input, decoder) {
  if (typeof input !== "object" || input === null) {
    const kind = input === null ? "null" : typeof input;
    throw new InvalidPaymentRequiredError(`the payment requirement is ${kind}; accepted is an object, a header's value or a Response`);
  }
  const list = Array.isArray(input);
  // Read once: what is decoded and what is handed back are the same list.
  const entries = list ? [...input] : acceptsOf(input);
  const text = written(list ? entries : entries === undefined ? input : withAccepts(input, entries));
  const payment = attempt(() => decoder.decode(text));
  return { payment, entry: (index) => entries?.[index] };
}

/** @param {object} input */
function acceptsOf(input) {
  const accepts = Object.hasOwn(input, "accepts") ? /** @type {{ accepts: unknown }} */ (input).accepts : undefined;
  return Array.isArray(accepts) ? [...accepts] : undefined;
}

/**
 * @param {object} input
 * @param {unknown[]} accepts
 */
function withAccepts(input, accepts) {
  const prototype = Object.getPrototypeOf(input);
  const plain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!plain || "toJSON" in input) return input;
  const copy = Object.create(null);
  for (const key of Object.keys(input)) {
    copy[key] = key === "accepts" ? accepts : /** @type {Record<string, unknown>} */ (input)[key];
  }
  return copy;
}

/** @param {unknown} value */
function written(value) {
  try {
    return write(value, { root: "", skipUndefined: false });
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
 * @param {Decoder} decoder
 */
async function decodeResponse(response, decoder) {
  const canonical = carried(response, [CANONICAL]);
  if (canonical.length > 0) {
    try {
      return attempt(() => decoder.decodeResponse(canonical, new Uint8Array()));
    } catch (error) {
      if (!PayrouteError.is(error)) throw error;
    }
  }
  const headers = [...canonical, ...carried(response, OTHERS)];
  if (response.bodyUsed && headers.length === 0) {
    throw new InvalidPaymentRequiredError("the response has no payment header and its body was read already; pass the response first, or the parsed body");
  }
  const body = response.bodyUsed ? new Uint8Array() : await readAtMost(response.clone(), decoder.bodyLimit);
  if (body !== undefined) return attempt(() => decoder.decodeResponse(headers, body));
  // One byte too many is all that it takes for the core to say so.
  return attempt(() => decoder.decodeResponse(headers, new Uint8Array(decoder.bodyLimit + 1)));
}

/**
 * Names and values by turns, as the core takes them.
 * @param {ResponseLike} response
 * @param {readonly string[]} names
 */
function carried(response, names) {
  return names.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [name, value];
  });
}
