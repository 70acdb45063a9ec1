// @ts-check
// A `fetch` for stock x402 clients, which read less than the core does. What the core finds elsewhere is
// written where they look: as base64 of JSON in the PAYMENT-REQUIRED header. No term is changed.

import { ModuleUnavailableError, invalidArgument } from "./errors.mjs";

const CANONICAL = "payment-required";

/** @typedef {(input: any, init?: any) => Promise<Response>} Fetch */

/**
 * @template {Fetch} F
 * @param {F} fetch
 * @returns {F}
 */
export function withReadable402(fetch) {
  if (typeof fetch !== "function") throw invalidArgument("fetch", "a fetch function");
  /** @type {Fetch} */
  const readable = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 402 || isReadable(response.headers.get(CANONICAL) ?? "")) return response;
    const challenge = await decode(response, init?.signal ?? input?.signal);
    if (challenge === undefined) return response;
    // Hosts without streams, such as React Native, have no body to hand on.
    return response.body === undefined ? withOwnBody(response, challenge) : withHeader(response, challenge, response.body);
  };
  return /** @type {F} */ (readable);
}

/**
 * Whether stock clients can read a header's value.
 * @param {string} value
 */
function isReadable(value) {
  try {
    const { accepts, x402Version } = JSON.parse(/^[A-Za-z0-9+/]*={0,2}$/.test(value) ? atob(value) : "");
    return Array.isArray(accepts) && typeof x402Version === "number";
  } catch {
    return false;
  }
}

/**
 * The challenge of a response: the merchant's own text, unless it lacks a version that clients can compare. None where
 * clients can read the body already, or the core finds no terms.
 * @param {Response} response
 * @param {AbortSignal | null | undefined} signal
 * @returns {Promise<string | undefined>}
 */
async function decode(response, signal) {
  // Loaded only now: `routed` does without.
  const { parsePaymentRequired } = await import("payroute");
  try {
    const { x402Version, carrier, json, notes } = await parsePaymentRequired(response, { signal });
    if (!notes.includes("version-coerced")) {
      return carrier === "body" && x402Version === 1 && !response.headers.get(CANONICAL) ? undefined : json;
    }
    const document = JSON.parse(json);
    return JSON.stringify(Array.isArray(document) ? { x402Version, accepts: document } : { ...document, x402Version });
  } catch (error) {
    if (ModuleUnavailableError.is(error)) throw error;
    return undefined; // Whatever else failed, the client meets it too, and reports it.
  }
}

const BODY_READERS = /** @type {const} */ (["arrayBuffer", "blob", "bytes", "formData", "json", "text"]);

/**
 * A response with the challenge in its header, whose methods read the body of the original.
 * @param {Response} response
 * @param {string} challenge
 * @returns {Response}
 */
function withOwnBody(response, challenge) {
  const copy = withHeader(response, challenge, null);
  for (const name of BODY_READERS) {
    if (name in response) Object.defineProperty(copy, name, { value: () => response[name]() });
  }
  Object.defineProperty(copy, "bodyUsed", { get: () => response.bodyUsed });
  return Object.defineProperty(copy, "clone", { value: () => withOwnBody(response.clone(), challenge) });
}

/**
 * The response with the challenge in its header; everything else is as it was.
 * @param {Response} response
 * @param {string} challenge
 * @param {BodyInit | null} body
 */
function withHeader(response, challenge, body) {
  const bytes = new TextEncoder().encode(challenge);
  const headers = new Headers(response.headers);
  headers.set(CANONICAL, btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
  const { status, statusText, url, redirected, type } = response;
  const copy = new Response(body, { status, statusText, headers });
  // The constructor cannot set these, and clients read them.
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(copy, name, { value });
  return copy;
}
