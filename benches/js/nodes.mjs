// JSON-RPC nodes on loopback, on a thread of their own: an injected delay, a count of requests and
// of the bytes of their bodies, a balance for everyone. They answer what a wallet asks and what payroute's
// program asks.

import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { fileURLToPath } from "node:url";

/** Digits of the program that a selection sends, and of the nonce behind it. */
const PROGRAM_DIGITS = 2 * 171;
const NONCE_DIGITS = 32;
const BALANCE = 100_000_000n;
/** `balanceOf`, and `authorizationState` of a nonce that was not used (EIP-3009); every other call reverts. */
const TOLD = { "70a08231": `05${hex(BALANCE, 64)}`, "e94a0102": `05${hex(0, 64)}` };

/** @typedef {{ requests: number, sent: number, received: number }} Traffic Bytes of bodies, as the client sees them. */

/**
 * Starts a node for each chain. `conduct` is "answers" or "hangs".
 * @returns {Promise<{ nodes: { chain: number, url: string }[], traffic(): Promise<Traffic>, lastBodies(): Promise<string[]>, close(): Promise<number> }>}
 */
export async function serve(chains, { delay = 0, conduct = "answers" } = {}) {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { chains, delay, conduct } });
  const [nodes] = await once(worker, "message");
  const ask = async (what) => {
    worker.postMessage(what);
    const [answer] = await once(worker, "message");
    return answer;
  };
  return { nodes, traffic: () => ask("traffic"), lastBodies: () => ask("bodies"), close: () => worker.terminate() };
}

if (!isMainThread && workerData?.chains !== undefined) await run(workerData);

async function run({ chains, delay, conduct }) {
  const traffic = { requests: 0, sent: 0, received: 0 };
  const bodies = chains.map(() => "");
  const nodes = await Promise.all(
    chains.map(async (chain, index) => {
      const server = createServer(async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        traffic.requests += 1;
        traffic.sent += Buffer.byteLength(body);
        bodies[index] = body;
        if (conduct === "hangs") return;
        if (delay > 0) await sleep(delay);
        const answer = answerTo(body, chain);
        const length = Buffer.byteLength(answer);
        traffic.received += length;
        response.writeHead(200, { "content-type": "application/json", "content-length": length });
        response.end(answer);
      });
      server.keepAliveTimeout = 60_000;
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      return { chain, url: `http://127.0.0.1:${server.address().port}/` };
    }),
  );
  parentPort.on("message", (what) => parentPort.postMessage(what === "traffic" ? traffic : bodies));
  parentPort.postMessage(nodes);
}

function answerTo(body, chain) {
  const parsed = JSON.parse(body);
  const one = ({ id, method, params }) => ({ jsonrpc: "2.0", id, ...result(method, params, chain) });
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(one) : one(parsed));
}

function result(method, params, chain) {
  if (method === "eth_chainId") return { result: `0x${chain.toString(16)}` };
  if (method === "eth_call") return { result: params[0].to === undefined ? program(params[0].data, chain) : word(BALANCE) };
  return { error: { code: -32601, message: "method not found" } };
}

/** What the program answers: `src/probe/evm/multicall.evm` lays out both sides. */
function program(data, chain) {
  let rest = data.slice(2 + PROGRAM_DIGITS);
  const nonce = rest.slice(0, NONCE_DIGITS);
  rest = rest.slice(NONCE_DIGITS);
  let answer = `0x01${nonce}${hex(chain, 64)}${hex(1, 16)}${hex(1_800_000_000, 16)}`;
  while (rest !== "") {
    const digits = 2 * Number.parseInt(rest.slice(40, 42), 16);
    answer += TOLD[rest.slice(42, 50)] ?? `03${hex(0, 64)}`;
    rest = rest.slice(42 + digits);
  }
  return answer;
}

function word(value) {
  return `0x${hex(value, 64)}`;
}

function hex(value, digits) {
  return value.toString(16).padStart(digits, "0");
}
