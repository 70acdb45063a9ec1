// @ts-check
// One POST by the host's `fetch`, and its answer within a bound. What the host or an application gives for a
// response may be anything: nothing here throws, and no promise rejects. Refuses to know JSON-RPC, deadlines
// and retries.

/**
 * @typedef {{ failure: "unreachable" | "redirected" | "too-large" }} Failure
 * @typedef {{ failure: undefined, status: number, retryAfter: string | undefined, date: string | undefined, body: Uint8Array }} Reply
 * @typedef {{ answer: Promise<Reply | Failure>, abort(): void }} Exchange
 */

/**
 * @param {string} url
 * @param {string} body
 * @param {number} mostBytes
 * @returns {Exchange}
 */
export function post(url, body, mostBytes) {
  /** @type {AbortController | undefined} */
  let controller;
  const exchange = async () => {
    try {
      controller = new AbortController();
      return await converse(url, body, mostBytes, controller);
    } catch (error) {
      controller?.abort();
      // What a host says of a failed request may hold the URL.
      return failed(isRedirect(error) ? "redirected" : "unreachable");
    } finally {
      controller = undefined;
    }
  };
  let abort = () => {};
  const answer = new Promise((resolve) => {
    // Who waits is let go, whether or not the host knows of the signal.
    abort = () => {
      controller?.abort();
      resolve(failed("unreachable"));
    };
    exchange().then(resolve);
  });
  return { answer, abort };
}

/**
 * @param {string} url
 * @param {string} body
 * @param {number} mostBytes
 * @param {AbortController} controller aborts by itself what is not read to its end
 * @returns {Promise<Reply | Failure>}
 */
async function converse(url, body, mostBytes, controller) {
  /** @type {Record<string, string>} */
  const headers = { "content-type": "application/json" };
  const target = url.includes("@") ? withoutCredentials(url, headers) : url;
  rules ??= rulesOfHost();
  const { signal } = controller;
  const response = await fetch(target, { ...rules, headers, body, signal });
  const { status } = response;
  if (!(Number.isInteger(status) && status >= 0 && status < 1_000)) throw new TypeError("this is no status");
  // Where the browser keeps a redirect to itself, there is no status.
  if (status === 0 || (status >= 300 && status < 400)) {
    cancel(response.body);
    controller.abort();
    return failed("redirected");
  }
  // All that the core reads is its own: what every object inherits is no answer.
  const head = { failure: undefined, status, retryAfter: header(response, "retry-after"), date: header(response, "date") };
  // A refusal is a refusal however long it goes on about it, and if it breaks off.
  const refused = status < 200 || status >= 300;
  const whole = await bodyOf(response, mostBytes, signal).catch((error) => {
    if (!refused) throw error;
    return undefined;
  });
  // Where the body was cloned, to cancel one half ends nothing.
  if (whole === undefined) controller.abort();
  return whole === undefined && !refused ? failed("too-large") : { ...head, body: whole ?? new Uint8Array() };
}

/**
 * Of a redirect that was an error: as Node says it, and as libraries do that stand in its place.
 * @param {any} error
 */
function isRedirect(error) {
  try {
    return error.cause?.message === "unexpected redirect" || /redirect mode is set to "?error/.test(error.message);
  } catch {
    return false;
  }
}

/**
 * @param {Failure["failure"]} failure
 * @returns {Failure}
 */
function failed(failure) {
  return { failure };
}

/** Most answers fit in. */
const USUAL_BYTES = 4_096;

/**
 * The body, or nothing as soon as it grows past `most`.
 * @param {Response} response
 * @param {number} most
 * @param {AbortSignal} signal
 */
async function bodyOf(response, most, signal) {
  if (!response.body) {
    // No body, or a host without streams, such as React Native.
    const given = await response.arrayBuffer();
    const whole = bytesOf(ArrayBuffer.isView(given) ? given : new DataView(given));
    return whole.length > most ? undefined : whole.slice();
  }
  const reader = response.body.getReader();
  // What is given stays the host's: it may fill it anew, shrink it, or hold far more behind it.
  let own = new Uint8Array(USUAL_BYTES);
  let end = 0;
  let taken = 0;
  for (;;) {
    const step = await reader.read();
    if (step.done) return own.subarray(0, end);
    const chunk = bytesOf(step.value);
    // One of nothing counts too, for a body of those would never end.
    taken += chunk.length || 1;
    if (taken > most || signal.aborted) {
      // An abort reaches only a host that heard of the signal.
      cancel(reader);
      return undefined;
    }
    if (end + chunk.length > own.length) own = grown(own, end + chunk.length);
    own.set(chunk, end);
    end += chunk.length;
  }
}

/**
 * @param {Uint8Array} bytes
 * @param {number} least
 */
function grown(bytes, least) {
  const larger = new Uint8Array(Math.max(2 * bytes.length, least));
  larger.set(bytes);
  return larger;
}

/**
 * @param {unknown} view
 */
function bytesOf(view) {
  if (!ArrayBuffer.isView(view)) throw new TypeError("these are no bytes");
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

/**
 * An answer counts without its headers, whatever they are.
 * @param {Response} response
 * @param {string} name
 */
function header(response, name) {
  try {
    const value = response.headers.get(name);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Ends what would go on where nobody reads. That it had ended already is no news.
 * @param {{ cancel(): Promise<void> } | null} stream
 */
async function cancel(stream) {
  try {
    await stream?.cancel();
  } catch {}
}

/** Redirects are not followed. `manual` rather than `error`, which workers do not have. */
const SERVER_RULES = /** @type {const} */ ({ method: "POST", redirect: "manual" });
const BROWSER_RULES = /** @type {const} */ ({ ...SERVER_RULES, credentials: "omit", referrerPolicy: "no-referrer" });
/** Node copies the body of every other request, in case it must be sent again: a fifth of its time. */
const NODE_RULES = /** @type {const} */ ({ ...BROWSER_RULES, redirect: "error", window: null });

/** @type {RequestInit | undefined} */
let rules;

/** Hosts without cookies and referrer refuse to be told to omit them. */
function rulesOfHost() {
  const anywhere = "https://localhost";
  /** @param {RequestInit} [init] */
  const takes = (init) => {
    try {
      return new Request(anywhere, init) !== undefined;
    } catch {
      return false;
    }
  };
  const { process } = /** @type {{ process?: { type?: string, versions?: { undici?: string } } }} */ (globalThis);
  // Workers name the library without a version and take no `error`; pages of Electron have a `fetch` of their own.
  const isNode = process?.versions?.undici && process.type !== "renderer";
  if (isNode && takes(NODE_RULES)) return NODE_RULES;
  return takes() && !takes(BROWSER_RULES) ? SERVER_RULES : BROWSER_RULES;
}

/**
 * `fetch` refuses URLs with a user and a password in them; a header says the same.
 * @param {string} address
 * @param {Record<string, string>} headers
 */
function withoutCredentials(address, headers) {
  const url = new URL(address);
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === "" && password === "") return url.href;
  // `btoa` takes bytes as the characters of their numbers.
  const bytes = Array.from(new TextEncoder().encode(`${user}:${password}`), (byte) => String.fromCharCode(byte));
  headers.authorization = `Basic ${btoa(bytes.join(""))}`;
  url.username = "";
  url.password = "";
  return url.href;
}

/**
 * A percent sign that stands for itself stays one.
 * @param {string} part
 */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
