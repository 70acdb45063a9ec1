// @ts-check
// How requests leave: through the host's fetch, a wallet's provider, or a function. Every promise
// here resolves, with an answer or the name of a failure; what either means is the core's business.

import { readAtMost } from "./body.mjs";

/** The most that is read of an answer; a usual one has two thousand bytes. */
const MOST_BYTES = 262_144;
/** The most of a provider's error message that is passed on. */
const MOST_MESSAGE = 400;

/** @typedef {import("./endpoints.mjs").Provider} Provider */
/** @typedef {{ status: number, retryAfter?: string, date?: string, body: Uint8Array } | { failure: "unreachable" | "too-large" | "redirected" }} Answer */

/**
 * Options of fetch beside method, headers and body. Redirects are not followed: a body with account
 * data, and a URL with a key in it, would go to a host that nobody configured. `manual` rather than
 * `error`, which workers do not have.
 * @type {RequestInit}
 */
const browserRules = { redirect: "manual", credentials: "omit", referrerPolicy: "no-referrer" };
let rules = browserRules;

/** For hosts that have no cookies and no referrer, and refuse to be told to omit them. */
export function onlyRedirectRule() {
  rules = { redirect: "manual" };
}

/**
 * @param {Map<string, Provider>} providers
 * @param {((event: import("../index.d.ts").SelectorEvent) => unknown) | undefined} onEvent
 */
export function hostOf(providers, onEvent) {
  return {
    /** @param {string} text */
    event(text) {
      // After the core is done: a listener may call the selector.
      queueMicrotask(() => tell(onEvent, JSON.parse(text)));
    },

    /**
     * @param {string} url
     * @param {string} body
     * @param {AbortSignal} signal
     * @returns {Promise<Answer>}
     */
    async post(url, body, signal) {
      try {
        return await post(url, body, signal);
      } catch {
        return { failure: "unreachable" };
      }
    },

    /**
     * @param {string} name
     * @param {string} body
     * @param {AbortSignal} signal
     * @returns {Promise<Answer>}
     */
    async ask(name, body, signal) {
      try {
        const provider = providers.get(name);
        if (provider === undefined) return { failure: "unreachable" };
        const asked = typeof provider === "function" ? provider(body, { signal }) : converse(provider, body);
        const answer = String(await unless(signal, asked));
        // A character is a byte or more: what is too long as text need not be copied to know it.
        const bytes = answer.length > MOST_BYTES ? undefined : new TextEncoder().encode(answer);
        return bytes === undefined || bytes.length > MOST_BYTES ? { failure: "too-large" } : { status: 200, body: bytes };
      } catch {
        return { failure: "unreachable" };
      }
    },
  };
}

/**
 * A listener's fault is its own: it ends neither a selection nor the process.
 * @param {((event: import("../index.d.ts").SelectorEvent) => unknown) | undefined} onEvent
 * @param {import("../index.d.ts").SelectorEvent} event
 */
async function tell(onEvent, event) {
  try {
    await onEvent?.(event);
  } catch (error) {
    // Deno and Bun end the process for what is reported; like Node they have a `process`.
    if (typeof globalThis.reportError === "function" && !("process" in globalThis)) globalThis.reportError(error);
    else console.error(error);
  }
}

/**
 * @param {string} url
 * @param {string} body
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
async function post(url, body, signal) {
  const { target, headers } = addressed(url);
  const response = await fetch(target, { method: "POST", headers, body, signal, ...rules });
  const { status, ok } = response;
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    response.body?.cancel().catch(() => {});
    return { failure: "redirected" };
  }
  const retryAfter = response.headers.get("retry-after") ?? undefined;
  const date = response.headers.get("date") ?? undefined;
  try {
    const body = await readAtMost(response, MOST_BYTES);
    if (body !== undefined) return { status, retryAfter, date, body };
    if (ok) return { failure: "too-large" };
  } catch (error) {
    if (ok) throw error;
  }
  // A refusal is a refusal however long it goes on about it, and if it breaks off.
  return { status, retryAfter, date, body: new Uint8Array() };
}

/**
 * fetch refuses URLs with a user and a password in them; a header says the same.
 * @param {string} url
 */
function addressed(url) {
  /** @type {Record<string, string>} */
  const headers = { "content-type": "application/json" };
  if (!url.includes("@")) return { target: url, headers };
  const target = new URL(url);
  if (target.username !== "" || target.password !== "") {
    const credentials = `${decoded(target.username)}:${decoded(target.password)}`;
    headers.authorization = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(credentials)))}`;
    target.username = "";
    target.password = "";
  }
  return { target: target.href, headers };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // A percent sign that stands for itself.
  }
}

/**
 * `work`, or a rejection once `signal` aborts: a provider that never answers holds nothing.
 * @template T
 * @param {AbortSignal} signal
 * @param {T | PromiseLike<T>} work
 * @returns {Promise<T>}
 */
function unless(signal, work) {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    Promise.resolve(work).then(resolve, reject);
  });
}

/**
 * Answers a JSON-RPC body through an EIP-1193 provider, as an endpoint would.
 * @param {import("../index.d.ts").Eip1193Provider} provider
 * @param {string} body
 */
async function converse(provider, body) {
  const parsed = JSON.parse(body);
  // A provider has no batches: calls made one by one would pass for one answer, and the chain may
  // switch between them. The core then asks one by one itself, and says so.
  const refusal = { jsonrpc: "2.0", id: null, error: { code: -32601, message: "batch is not supported" } };
  return JSON.stringify(Array.isArray(parsed) ? refusal : await answer(provider, parsed));
}

/**
 * @param {import("../index.d.ts").Eip1193Provider} provider
 * @param {{ id: number, method: string, params: unknown[] }} call
 */
async function answer(provider, { id, method, params }) {
  try {
    const result = await provider.request({ method, params });
    return { jsonrpc: "2.0", id, result: result ?? null };
  } catch (error) {
    return { jsonrpc: "2.0", id, error: rpcError(error) };
  }
}

/** @param {unknown} error */
function rpcError(error) {
  const { code, message, data } = /** @type {{ code?: unknown, message?: unknown, data?: unknown }} */ (error ?? {});
  return {
    code: Number.isSafeInteger(code) ? code : -32603,
    message: typeof message === "string" ? message.slice(0, MOST_MESSAGE) : "the provider failed",
    ...(typeof data === "string" && data.length <= MOST_MESSAGE * 4 ? { data } : {}),
  };
}
