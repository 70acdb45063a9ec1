// An endpoint on loopback that misbehaves by path. Counts what it was asked and what was broken off.

import { createServer } from "node:http";
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { answer } from "./chain.mjs";

/** Made once: on a busy machine it takes longer than an endpoint is given, and so would each request. */
const BOMB = gzipSync(`"${"x".repeat(50_000_000)}"`);

const routes = {
  "/ok": (body, response) => send(response, 200, answer(body)),
  "/poor": (body, response) => send(response, 200, answer(body, { balance: 20_000n })),
  "/other-chain": (body, response) => send(response, 200, answer(body, { chainId: 1 })),
  "/slow": (body, response) => setTimeout(() => send(response, 200, answer(body)), 100),
  "/hang": () => {},
  "/stall": (_, response) => response.writeHead(200).write("["),
  "/reset": (_, response) => response.destroy(),
  "/error": (_, response) => send(response, 500, "oops"),
  "/busy": (_, response) => send(response, 429, "{}", { "retry-after": "7" }),
  "/html": (_, response) => send(response, 200, "<html>"),
  "/empty": (_, response) => send(response, 200, ""),
  "/away": (_, response) => send(response, 307, "", { location: "/ok" }),
  "/huge": (_, response) => send(response, 200, `"${"x".repeat(300_000)}"`),
  "/bomb": (_, response) => send(response, 200, BOMB, { "content-encoding": "gzip" }),
};

function send(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", "access-control-allow-origin": "*", ...headers });
  response.end(body);
}

export async function startFaulty() {
  const asked = [];
  let brokenOff = 0;
  const server = createServer(async (request, response) => {
    if (request.method === "OPTIONS") {
      const allowed = { "access-control-allow-origin": "*", "access-control-allow-headers": "content-type" };
      return send(response, 204, "", allowed);
    }
    response.on("close", () => {
      if (!response.writableEnded) brokenOff += 1;
    });
    let body = "";
    for await (const chunk of request) body += chunk;
    // The last ones are what tests look at; all of them would be a leak of the test's own.
    if (asked.length >= 50) asked.shift();
    asked.push({ path: request.url, headers: request.headers, body });
    (routes[request.url.split("?")[0]] ?? routes["/error"])(body, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    asked,
    at: (path) => `${origin}${path}`,
    brokenOff: () => brokenOff,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
