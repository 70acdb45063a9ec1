// Endpoints on loopback that misbehave as a row of table.json says, byte for byte: raw TCP, each
// endpoint on a port of its own, so that none is in another's way. Decides nothing of what clients
// should make of it.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { answer } from "./chain.mjs";

export const TABLE = JSON.parse(readFileSync(new URL("table.json", import.meta.url), "utf8"));

/** What every answer carries, so that a page may read it; a row without it takes `cors: false`. */
const CORS = "access-control-allow-origin: *\r\naccess-control-expose-headers: *\r\n";
const PREFLIGHT = `HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\naccess-control-allow-headers: *\r\naccess-control-max-age: 600\r\n\r\n`;

/**
 * An endpoint in the state of `row`, a row's id or the row itself: `url`, what it was `asked`, how many
 * requests were `brokenOff` before their end, `heal()` and `stop()`.
 */
export async function openEndpoint(row = "healthy", family = "evm") {
  const endpoint = new Endpoint(typeof row === "string" ? TABLE.rows.find(({ id }) => id === row) : row, family);
  await endpoint.open();
  return endpoint;
}

class Endpoint {
  asked = [];
  brokenOff = 0;
  #does;
  #family;
  #server = createServer((socket) => this.#accept(socket));
  #sockets = new Set();

  constructor({ does = {} }, family) {
    this.#does = does;
    this.#family = family;
  }

  async open() {
    this.port = await listen(this.#server, this.#does.connection === "refused");
    this.host = `127.0.0.1:${this.port}`;
    this.origin = `http://${this.host}`;
    this.url = `${this.origin}/v2/key`;
  }

  /** From now on it does nothing wrong. */
  async heal() {
    const refused = this.#does.connection === "refused";
    this.#does = {};
    if (refused) await listening(this.#server, this.port);
  }

  async stop() {
    for (const socket of this.#sockets) socket.destroy();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(socket) {
    // Clients that go away in the middle are the rule here.
    socket.on("error", () => {});
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    if (this.#does.connection === "reset") return socket.resetAndDestroy();
    socket.setNoDelay(true);
    this.#converse(socket).catch((error) => {
      if (!socket.destroyed) throw error;
    });
  }

  async #converse(socket) {
    let buffer = Buffer.alloc(0);
    for await (const chunk of socket) {
      buffer = Buffer.concat([buffer, chunk]);
      for (let request; (request = takeRequest(buffer)) !== undefined; ) {
        buffer = request.rest;
        if (request.method === "OPTIONS") {
          socket.write(PREFLIGHT);
          continue;
        }
        // The last ones are what tests look at; all of them would be a leak of the test's own.
        if (this.asked.length >= 50) this.asked.shift();
        this.asked.push(request);
        await this.#reply(socket, request);
        if (socket.destroyed) return;
      }
    }
  }

  async #reply(socket, request) {
    // Somewhere else, all is well: whoever gets there followed a redirect.
    const does = request.path === "/elsewhere" ? {} : this.#does;
    const count = () => (this.brokenOff += 1);
    socket.once("close", count);
    await finish(socket, compose(does, this.#family, request), does);
    socket.off("close", count);
  }
}

/** The first request in `buffer`, if it is whole. */
function takeRequest(buffer) {
  const end = buffer.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first, ...lines] = buffer.subarray(0, end).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]));
  const stop = end + 4 + Number(headers["content-length"] ?? 0);
  if (buffer.length < stop) return undefined;
  const [method, path] = first.split(" ");
  return { method, path, headers, body: buffer.subarray(end + 4, stop).toString(), rest: buffer.subarray(stop) };
}

/** The bytes of the answer, in parts, as far as there are any to compose. */
function compose(does, family, request) {
  const { status = 200, headers = "", cors = true, send = "{head}{body}" } = does;
  const body = typeof does.body === "object" ? largeBody(does) : bodyOf(does, family, JSON.parse(request.body));
  const head = `${cors ? CORS : ""}content-type: application/json\r\n${headers.replaceAll("{now}", new Date().toUTCString()).replaceAll("{soon}", new Date(Date.now() + 40_000).toUTCString())}`;
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

function bodyOf(does, family, asked) {
  const body = does.body ?? JSON.stringify(tampered(does, family, asked));
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

/** Sends `parts` and then does what the row says. Returns when the connection may be used again. */
async function finish(socket, parts, { then = "keep", wait = 0, repeat = "" }) {
  if (wait > 0) await sleep(wait);
  if (then === "drip") return drip(socket, Buffer.concat(parts));
  for (const part of parts) socket.write(part);
  switch (then) {
    case "close":
      socket.end();
      return closed(socket);
    case "reset":
      // A reset overtakes what was sent if nobody had the time to read it.
      await sleep(20);
      socket.resetAndDestroy();
      return closed(socket);
    case "hang":
      return closed(socket);
    case "flood":
      return flood(socket, Buffer.from(repeat.repeat(1_000)));
  }
}

async function drip(socket, bytes) {
  for (const byte of bytes) {
    if (socket.destroyed) return;
    socket.write(Buffer.of(byte));
    await sleep(50);
  }
}

/** Sends the same again and again until the other side has had enough, and leaves the others a turn. */
async function flood(socket, bytes) {
  while (!socket.destroyed) {
    if (!socket.writableNeedDrain) socket.write(bytes);
    await sleep(1);
  }
}

function closed(socket) {
  return new Promise((resolve) => (socket.destroyed ? resolve() : socket.once("close", resolve)));
}

/** Listens and returns the port, or finds one where nobody listens. */
async function listen(server, refused) {
  if (!refused) return listening(server, 0);
  for (;;) {
    // Below the ports that systems hand out: a connection to one of those may meet itself.
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const probe = createServer();
    try {
      await listening(probe, port);
      probe.close();
      await once(probe, "close");
      return port;
    } catch (error) {
      if (error.code !== "EADDRINUSE") throw error;
    }
  }
}

async function listening(server, port) {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
}
