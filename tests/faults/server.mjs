// Endpoints on loopback that misbehave as a row of table.json says, byte for byte: raw TCP, each
// endpoint on a port of its own, so that none is in another's way. Decides nothing of what clients
// should make of it.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { compose } from "./bytes.mjs";

export const TABLE = JSON.parse(readFileSync(new URL("table.json", import.meta.url), "utf8"));

const PREFLIGHT =
  "HTTP/1.1 204 X\r\naccess-control-allow-origin: *\r\naccess-control-allow-headers: *\r\naccess-control-max-age: 600\r\n\r\n";

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
