// The bytes of answers: a good one, and what the rows of table.json make of it. Knows no sockets.

import { gzipSync } from "node:zlib";
import { answer } from "./chain.mjs";

/** What every answer carries, so that a page may read it; a row without it takes `cors: false`. */
const CORS = "access-control-allow-origin: *\r\naccess-control-expose-headers: *\r\n";

/** The bytes that answer `request` where a row says what it `does`, in parts. */
export function compose(does, family, request) {
  const { status = 200, headers = "", cors = true, send = "{head}{body}" } = does;
  const body = typeof does.body === "object" ? largeBody(does) : bodyOf(does, family, request);
  const head = `${cors ? CORS : ""}content-type: application/json\r\n${dated(headers)}`;
  const parts = {
    head: `HTTP/1.1 ${status} X\r\n${head}content-length: ${body.length}\r\n\r\n`,
    headers: head,
    body,
    half: body.subarray(0, body.length / 2),
    length: String(body.length),
    more: String(body.length + 7),
    less: String(body.length - 7),
  };
  const sent = send.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : parts[part]));
  return sent.map((part) => (typeof part === "string" ? Buffer.from(part) : part)).filter(({ length }) => length > 0);
}

function dated(headers) {
  const at = (ms) => new Date(Date.now() + ms).toUTCString();
  return headers.replaceAll("{now}", at(0)).replaceAll("{soon}", at(40_000));
}

/** Bodies of many megabytes, made once: who is busy making them is late everywhere else. */
const large = new Map();
function largeBody({ body: { repeat, times }, gzip = false }) {
  const key = `${repeat} ${times} ${gzip}`;
  if (!large.has(key)) {
    const bytes = Buffer.alloc(repeat.length * times, repeat);
    large.set(key, gzip ? gzipSync(bytes) : bytes);
  }
  return large.get(key);
}

function bodyOf(does, family, request) {
  const body = does.body ?? JSON.stringify(tampered(does, family, JSON.parse(request.body)));
  // Past what a double holds; JSON.stringify could not write it.
  const written = does.reply === "huge-ids" ? body.replaceAll(/"id":(\d+)/g, '"id":900719925474099$1') : body.padEnd(does.pad ?? 0);
  return does.gzip ? gzipSync(written) : Buffer.from(written);
}

/** The chain's answer after what the row does to it. */
function tampered({ chain, error, reply, noBatches }, family, asked) {
  const { [family]: failure = error } = error ?? {};
  if (failure !== undefined) return Array.isArray(asked) ? asked.map(({ id }) => ({ jsonrpc: "2.0", id, error: failure })) : { jsonrpc: "2.0", id: asked.id, error: failure };
  if (noBatches && Array.isArray(asked)) return { jsonrpc: "2.0", id: null, error: { code: -32600, message: "batch is not supported" } };
  const { [family]: own = chain } = chain ?? {};
  const answered = answer(family, asked, own);
  return TAMPERINGS[reply]?.(answered) ?? answered;
}

/** What is done to an answer; to every item of a batch unless it is said otherwise. */
const each = (change) => (answered) => (Array.isArray(answered) ? answered.map(change) : change(answered));
const ofBatch = (change) => (answered) => (Array.isArray(answered) ? change(answered) : answered);
const TAMPERINGS = {
  "text-ids": each((item) => ({ ...item, id: String(item.id) })),
  "foreign-ids": each((item) => ({ ...item, id: item.id + 90 })),
  "no-ids": each(({ id: _, ...item }) => item),
  "null-results": each((item) => ({ ...item, result: null })),
  "null-errors": each((item) => ({ ...item, error: null })),
  reordered: ofBatch((items) => items.toReversed()),
  "same-ids": ofBatch((items) => items.map((item) => ({ ...item, id: 1 }))),
  "one-short": ofBatch((items) => items.slice(0, -1)),
  "one-failed": ofBatch((items) => items.map(({ result, ...item }, index) => (index === 1 ? { ...item, error: { code: -32603, message: "internal error" } } : { ...item, result }))),
};
