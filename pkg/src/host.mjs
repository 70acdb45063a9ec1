// @ts-check
// Requests to endpoints that are not URLs: a wallet's provider or a function. Every promise here resolves, to
// an answer or the name of a failure; the core decides what it means.

/** The most bytes that are read of an answer; a usual one has 2,000. */
const MOST_BYTES = 262_144;
/** The most characters of a provider's error message that are passed on. */
const MOST_MESSAGE = 400;

/** @typedef {import("./endpoints.mjs").Provider} Provider */
/** @typedef {{ failure: undefined, status: 200, retryAfter: undefined, date: undefined, body: Uint8Array }} Reply */
/** @typedef {Reply | { failure: "unreachable" | "too-large" }} Answer */

/**
 * @param {Map<string, Provider>} providers
 * @param {((event: import("../index.d.ts").SelectorEvent) => unknown) | undefined} onEvent
 */
export function createHost(providers, onEvent) {
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
    const asked = typeof provider === "function" ? provider(body, { signal }) : askProvider(provider, body);
    const answer = String(await unlessAborted(signal, asked));
    // Every character takes at least a byte, so a text that is too long need not be encoded.
    const bytes = answer.length > MOST_BYTES ? undefined : new TextEncoder().encode(answer);
    if (bytes === undefined || bytes.length > MOST_BYTES) return { failure: "too-large" };
    return { failure: undefined, status: 200, retryAfter: undefined, date: undefined, body: bytes };
  } catch {
    return { failure: "unreachable" };
  }
}

/**
 * An error of a listener ends neither a selection nor the process.
 * @param {((event: import("../index.d.ts").SelectorEvent) => unknown) | undefined} onEvent
 * @param {import("../index.d.ts").SelectorEvent} event
 */
async function tell(onEvent, event) {
  try {
    await onEvent?.(event);
  } catch (error) {
    // Deno and Bun end the process on a reported error; like Node they have a `process`.
    if (typeof globalThis.reportError === "function" && !("process" in globalThis)) globalThis.reportError(error);
    else console.error(error);
  }
}

/**
 * `work`, or a rejection once `signal` aborts, so that a provider that never answers keeps nothing waiting.
 * @template T
 * @param {AbortSignal} signal
 * @param {T | PromiseLike<T>} work
 * @returns {Promise<T>}
 */
function unlessAborted(signal, work) {
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
async function askProvider(provider, body) {
  const parsed = JSON.parse(body);
  // Providers have no batches. Calls made one by one here would look like one answer, although the chain may
  // switch between them. Refused, the core makes single calls itself and notes that.
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
