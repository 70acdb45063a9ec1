// RPC endpoints that can be broken: each a port of its own in front of one of the local chains, with a
// mode that the page switches. Knows nothing of payroute.

import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const SLOW_MS = 400;
const RETRY_AFTER_S = 5;

/** What an endpoint does with a request, by mode. */
const MODES = {
  answers: (endpoint, body) => forward(endpoint.upstream, body),
  slow: async (endpoint, body) => {
    await sleep(SLOW_MS);
    return forward(endpoint.upstream, body);
  },
  hangs: () => new Promise(() => {}),
  down: () => undefined,
  throttles: () => ({ status: 429, headers: { "retry-after": String(RETRY_AFTER_S) }, text: "too many requests" }),
  "wrong-chain": (endpoint, body) => endpoint.elsewhere(body),
};

export const MODE_NAMES = Object.keys(MODES);

/**
 * @param {{ network: string, name: string, upstream: string, elsewhere: (body: string) => Promise<object> }} options
 *   `elsewhere` answers as an endpoint of another chain would
 */
export async function startEndpoint({ network, name, upstream, elsewhere }) {
  const endpoint = { network, name, upstream, elsewhere, mode: "answers", url: "", close() {} };
  const server = createServer((request, response) => serve(endpoint, request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  endpoint.url = `http://127.0.0.1:${server.address().port}/`;
  endpoint.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return endpoint;
}

async function serve(endpoint, request, response) {
  const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "*", "access-control-expose-headers": "retry-after, date" };
  if (request.method === "OPTIONS") return response.writeHead(204, headers).end();
  let body = "";
  for await (const chunk of request) body += chunk;
  try {
    const answer = await MODES[endpoint.mode](endpoint, body);
    if (answer === undefined) return request.socket.destroy();
    response.writeHead(answer.status, { ...headers, "content-type": "application/json", ...answer.headers }).end(answer.text);
  } catch (error) {
    response.writeHead(502, headers).end(String(error.message));
  }
}

export async function forward(url, body) {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return { status: response.status, headers: {}, text: await response.text() };
}
