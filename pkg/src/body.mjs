// @ts-check
// Bodies, read up to a limit.

/** The longest wait for a merchant's body; what arrived by then is decoded. */
export const MOST_VIEW_MS = 10_000;

/** Empty chunks that are read before timers get a turn: no limit of bytes ends a body of empty chunks. */
const MOST_EMPTY = 1_000;

/**
 * @typedef {{ readonly body?: ReadableStream<Uint8Array> | null, arrayBuffer(): Promise<ArrayBuffer> }} Readable
 * @typedef {{ bytes: Uint8Array | undefined, cut: boolean }} View `bytes` are absent past the limit; `cut` off before the end
 */

/**
 * The body, read from a clone; the response's own stays unread. Reading ends after `MOST_VIEW_MS`, or when `signal`
 * aborts, with what arrived by then.
 * @param {Readable & { clone(): Readable }} response
 * @param {number} limit
 * @param {AbortSignal} [signal]
 * @returns {Promise<View>}
 */
export async function readView(response, limit, signal) {
  /** @type {(_?: unknown) => void} */
  let end = () => {};
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(end, MOST_VIEW_MS);
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  try {
    return await read(response, response.clone(), limit, ended);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

/**
 * Stops reading a clone without cancelling it. When a fetch is aborted, Node cancels the response's own body; if the
 * clone was cancelled before, Node then ends the process with a rejection that nobody can catch. A body cannot be
 * cancelled before its clone, so cancelling the body cancels the clone too.
 * @param {Readable} response
 * @param {ReadableStreamDefaultReader<Uint8Array>} view
 */
function leave({ body }, view) {
  if (!body) return;
  const cancel = body.cancel.bind(body);
  /** @param {unknown} reason */
  const value = async (reason) => {
    const cancelled = cancel(reason);
    view.cancel(reason).catch(() => {});
    await cancelled.catch((error) => {
      if (error !== reason) throw error;
    });
  };
  Object.defineProperty(body, "cancel", { value, configurable: true, writable: true });
}

/**
 * @param {Readable} response
 * @param {Readable} view
 * @param {number} limit
 * @param {Promise<unknown>} ended
 * @returns {Promise<View>}
 */
async function read(response, view, limit, ended) {
  if (view.body === null) return { bytes: new Uint8Array(), cut: false };
  const orEnd = before(ended);
  if (view.body === undefined) {
    // Hosts without streams, such as React Native.
    const whole = await orEnd(() => view.arrayBuffer());
    if (whole === undefined) return { bytes: new Uint8Array(), cut: true };
    return { bytes: whole.byteLength > limit ? undefined : new Uint8Array(whole), cut: false };
  }
  const reader = view.body.getReader();
  const chunks = [];
  let length = 0;
  let empty = 0;
  let cut = false;
  for (;;) {
    const step = await orEnd(() => reader.read());
    if (step?.done) break;
    length += step?.value.length ?? 0;
    cut = step === undefined;
    if (cut || length > limit) leave(response, reader);
    if (step === undefined) break;
    if (length > limit) return { bytes: undefined, cut };
    if (step.value.length > 0) chunks.push(step.value);
    else if (++empty % MOST_EMPTY === 0) await orEnd(() => new Promise((resolve) => setTimeout(resolve)));
  }
  return { bytes: chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : joined(chunks, length), cut };
}

/**
 * Awaits a step, or gives nothing once `ended` is over. Not `Promise.race`: each race would leave a handler on `ended`,
 * and a step that is ready already would win even after the end.
 * @param {Promise<unknown>} ended
 */
function before(ended) {
  let over = false;
  let wake = () => {};
  ended.then(() => {
    over = true;
    wake();
  });
  /**
   * @template T
   * @param {() => Promise<T>} next
   * @returns {Promise<T | undefined>}
   */
  return (next) =>
    new Promise((resolve, reject) => {
      wake = () => resolve(undefined);
      if (over) wake();
      else next().then(resolve, reject);
    });
}

/**
 * @param {Uint8Array[]} chunks
 * @param {number} length
 */
function joined(chunks, length) {
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
