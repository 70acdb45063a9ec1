// @ts-check
// How requests leave that no URL takes: through a wallet's provider or a function. Every promise here
// resolves, with an answer or the name of a failure; what either means is the core's business.

/** The most that is read of an answer; a usual one has two thousand bytes. */
const MOST_BYTES = 262_144;
/** The most of a provider's error message that is passed on. */
const MOST_MESSAGE = 400;

/** @typedef {import("./endpoints.mjs").Provider} Provider */
/** @typedef {{ failure: undefined, status: 200, retryAfter: undefined, date: undefined, body: Uint8Array }} Reply */
/** @typedef {Reply | { failure: "unreachable" | "too-large" }} Answer */

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
     * A request under way, as the core's own transport has them.
     * @param {string} name
     * @param {string} body
     */
    ask(name, body) {
      const controller = new AbortController();
      let ended = false;
      const answer = ask(providers.get(name), body, controller.signal).finally(() => {
        ended = true;
      });
      return { answer, abort: () => ended || controller.abort() };
    },
  };
}

/**
 * @param {Provider | undefined} provider
 * @param {string} body
 * @param {AbortSignal} signal
 * @returns {Promise<Answer>}
 */
async function ask(provider, body, signal) {
  try {
    if (provider === undefined) return { failure: "unreachable" };
    const asked = typeof provider === "function" ? provider(body, { signal }) : converse(provider, body);
    const answer = String(await unless(signal, asked));
    // A character is a byte or more: what is too long as text need not be copied to know it.
    const bytes = answer.length > MOST_BYTES ? undefined : new TextEncoder().encode(answer);
    if (bytes === undefined || bytes.length > MOST_BYTES) return { failure: "too-large" };
    return { failure: undefined, status: 200, retryAfter: undefined, date: undefined, body: bytes };
  } catch {
    return { failure: "unreachable" };
  }
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
