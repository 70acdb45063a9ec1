// @ts-check
// Challenges that stock x402 clients reject, written anew where those look: as base64 of JSON in the
// PAYMENT-REQUIRED header. Judges no offer and changes none: what a client parses from the header is
// what the merchant's own text parses to.

import { readView } from "./body.mjs";
import { ConfigurationError } from "./errors.mjs";

/** As the core reads challenges. */
const MOST_HEADER = 65_536;
const MOST_BODY = 1_048_576;

const CANONICAL = "payment-required";
const LEGACY = ["x-payment-required", "x-payment-requirements"];

/** What stock clients accept as base64. */
const STOCK_BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * @typedef {{ x402Version?: unknown, accepts?: unknown, [field: string]: unknown }} Challenge
 * @typedef {(input: any, init?: any) => Promise<Response>} Fetch
 */

/**
 * @template {Fetch} F
 * @param {F} fetch
 * @returns {F}
 */
export function withReadable402(fetch) {
  if (typeof fetch !== "function") {
    throw new ConfigurationError("fetch: is not a function; accepted is a fetch function", "fetch", "a fetch function");
  }
  /** @type {Fetch} */
  const readable = async (input, init) => {
    const response = await fetch(input, init);
    return response.status === 402 ? rewritten(response, input, init) : response;
  };
  return /** @type {F} */ (readable);
}

/**
 * The response itself wherever a stock client reads it already, or nobody could.
 * @param {Response} response
 * @param {unknown} input
 * @param {{ signal?: AbortSignal | null } | undefined} init
 */
async function rewritten(response, input, init) {
  const stated = response.headers.get(CANONICAL);
  if (stated && (stated.length > MOST_HEADER || stockReads(stated))) return response;
  const signal = init?.signal ?? /** @type {{ signal?: AbortSignal | null }} */ (input)?.signal;
  const { bytes, cut } = await viewOf(response, signal ?? undefined);
  const body = bytes && fromBytes(bytes);
  if (!stated && isPlain(body) && body?.x402Version === 1) return response;
  const challenge = firstOf([
    stated ? fromHeader(stated) : undefined,
    body,
    ...LEGACY.map((name) => fromHeader(response.headers.get(name) ?? "")),
  ]);
  if (challenge === undefined) return response;
  if (response.body !== undefined) return withHeader(response, challenge, response.body);
  // Hosts without streams, such as React Native, have no body to hand on.
  return bytes === undefined || cut ? readingFrom(response, challenge) : withHeader(response, challenge, /** @type {BodyInit} */ (bytes));
}

/** @param {string} value */
function stockReads(value) {
  return STOCK_BASE64.test(value) && isPlain(fromHeader(value));
}

/**
 * A challenge that states its version as clients compare it.
 * @param {Challenge | undefined} challenge
 */
function isPlain(challenge) {
  return challenge !== undefined && Array.isArray(challenge.accepts) && typeof challenge.x402Version === "number";
}

/**
 * The first challenge, in the order in which the core looks. A list without an envelope gives way to
 * a whole document elsewhere, which states the version that the list lacks.
 * @param {readonly (Challenge | undefined)[]} challenges
 */
function firstOf(challenges) {
  const usable = challenges.filter((challenge) => challenge !== undefined).flatMap((challenge) => versioned(challenge) ?? []);
  return (usable.find(({ whole }) => whole) ?? usable[0])?.challenge;
}

/**
 * The challenge with its version as a number, if it offers something and its version is 1 or 2.
 * @param {Challenge} given
 * @returns {{ challenge: Challenge, whole: boolean } | undefined}
 */
function versioned(given) {
  const whole = !Array.isArray(given);
  const accepts = whole ? given.accepts : given;
  if (!Array.isArray(accepts) || !accepts.some(isOffer)) return undefined;
  const stated = whole ? given.x402Version : undefined;
  const x402Version = stated === undefined ? inferred(accepts) : Number(stated);
  if (stated !== undefined && stated !== x402Version && stated !== String(x402Version)) return undefined;
  if (x402Version !== 1 && x402Version !== 2) return undefined;
  return { challenge: whole ? { ...given, x402Version } : { x402Version, accepts }, whole };
}

/** @param {unknown} entry */
function isOffer(entry) {
  if (typeof entry !== "object" || entry === null) return false;
  const { scheme, network, payTo } = /** @type {Record<string, unknown>} */ (entry);
  return [scheme, network, payTo].every((field) => typeof field === "string");
}

/**
 * A list whose entries state their price as version 1 does is of version 1.
 * @param {readonly unknown[]} accepts
 */
function inferred(accepts) {
  return accepts.some((entry) => {
    const { amount, maxAmountRequired } = /** @type {Record<string, unknown>} */ (entry ?? {});
    return amount === undefined && maxAmountRequired !== undefined;
  })
    ? 1
    : 2;
}

/**
 * @param {string} value JSON, or base64 of it in either alphabet, padded or not
 * @returns {Challenge | undefined}
 */
function fromHeader(value) {
  if (value === "" || value.length > MOST_HEADER) return undefined;
  if (/^\s*[{[]/.test(value)) return parsed(value);
  try {
    const bytes = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
    return fromBytes(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

/**
 * @param {Uint8Array} bytes
 * @returns {Challenge | undefined}
 */
function fromBytes(bytes) {
  try {
    return parsed(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} text
 * @returns {Challenge | undefined}
 */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param {Response} response
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./body.mjs").View>}
 */
async function viewOf(response, signal) {
  if (response.bodyUsed) return { bytes: undefined, cut: false };
  try {
    return await readView(response, MOST_BODY, signal);
  } catch {
    return { bytes: undefined, cut: false }; // The client meets the same failure, and says so.
  }
}

/** What reads a response's body. */
const READERS = /** @type {const} */ (["arrayBuffer", "blob", "bytes", "formData", "json", "text"]);

/**
 * The same where the body is not at hand: what reads it reads the response's own.
 * @param {Response} response
 * @param {Challenge} challenge
 * @returns {Response}
 */
function readingFrom(response, challenge) {
  const copy = withHeader(response, challenge, null);
  for (const name of READERS) {
    if (name in response) Object.defineProperty(copy, name, { value: () => response[name]() });
  }
  Object.defineProperty(copy, "bodyUsed", { get: () => response.bodyUsed });
  return Object.defineProperty(copy, "clone", { value: () => readingFrom(response.clone(), challenge) });
}

/**
 * The response with the challenge in its header; everything else of it as it was.
 * @param {Response} response
 * @param {Challenge} challenge
 * @param {BodyInit | null | undefined} body
 */
function withHeader(response, challenge, body) {
  const bytes = new TextEncoder().encode(JSON.stringify(challenge));
  const headers = new Headers(response.headers);
  headers.set(CANONICAL, btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
  const { status, statusText, url, redirected, type } = response;
  const copy = new Response(body, { status, statusText, headers });
  // A constructor cannot say where a response came from, and clients ask.
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(copy, name, { value });
  return copy;
}
