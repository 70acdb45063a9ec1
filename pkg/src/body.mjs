// @ts-check
// Bodies, read up to a limit. Knows nothing of what is in them.

/** A merchant that has not said its terms by now is not waited for; what came is what is judged. */
const MOST_VIEW_MS = 10_000;

/**
 * @typedef {{ readonly body?: ReadableStream<Uint8Array> | null, arrayBuffer(): Promise<ArrayBuffer> }} Readable
 */

/**
 * The body of a second view, or `undefined` past `limit`; the response's own stays unread. What came
 * by the time that is given, or until `signal` aborts, is all there is.
 * @param {Readable & { clone(): Readable }} response
 * @param {number} limit
 * @param {AbortSignal} [signal]
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
 * Leaves a view unread. Not cancelled: Node cancels the response's own body when its fetch is
 * aborted, and when that was all that was left of it, ends the process with a rejection that nobody
 * can catch. But a body cannot be cancelled while a view of it is not, so that goes along.
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
 */
async function read(response, view, limit, ended) {
  if (view.body === null) return new Uint8Array();
  if (view.body === undefined) {
    // Hosts without streams, such as React Native.
    const whole = new Uint8Array(await view.arrayBuffer());
    return whole.length > limit ? undefined : whole;
  }
  const reader = view.body.getReader();
  const end = ended.then(() => undefined);
  const chunks = [];
  let length = 0;
  for (;;) {
    const step = await Promise.race([reader.read(), end]);
    if (step?.done) break;
    length += step?.value.length ?? 0;
    if (step === undefined || length > limit) leave(response, reader);
    if (step === undefined) break;
    if (length > limit) return undefined;
    chunks.push(step.value);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : joined(chunks, length);
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
