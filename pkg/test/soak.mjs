// 200,000 selections on one selector in Node, with faults until shortly before the end: nothing grows,
// nothing is left, and health forgets what is over. `make soak` runs it, as `node --expose-gc`;
// the package must be built.

import assert from "node:assert/strict";
import { getEventListeners, once, setMaxListeners } from "node:events";
import { createServer } from "node:http";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import seal from "../wasm/seal.mjs";
import { answer } from "./support/chain.mjs";
import { BASE, OWNER, evmOffer, v2 } from "./support/offers.mjs";

const SELECTIONS = Number(process.env.SOAK_SELECTIONS ?? 200_000);
const WARM = Math.min(20_000, SELECTIONS / 2);
/** Without faults, at the end: rounds of so many until all are well again, and no more rounds than these. */
const CALM = 2_000;
const ROUNDS = 10;
const AT_ONCE = 32;
/** The collector decides when; so much more is noise. */
const NOISE_MB = 16;
/** How many long answers meet in the module is chance; the least leak would be 16 bytes a selection, or 2.7 MB. */
const MODULE_NOISE_MB = 1;

const memory = await watchMemory();
const { createSelector } = await import("payroute");

let faulty = true;
const server = await startServer();
const url = (path) => `http://127.0.0.1:${server.address().port}${path}`;
const signal = new AbortController().signal;
setMaxListeners(AT_ONCE, signal);
const selector = await createSelector({
  owners: { eip155: OWNER },
  networks: {
    [BASE]: {
      strategy: "weighted",
      rpc: [
        { provider: endpoint(), label: "one", weight: 9 },
        { provider: endpoint(), label: "two", weight: 9 },
        { url: url("/one"), weight: 1 },
        { url: url("/two"), weight: 1 },
      ],
    },
  },
  routing: { seed: 7 },
  health: { openForMs: 250, backoffMs: 20, backoffLimitMs: 100 },
});
const input = v2(evmOffer());

/**
 * An endpoint whose every ninth answer is wrong, in one way after another. It answers in a later turn of the
 * event loop, as whoever has to ask somebody does: else selections would follow one another without ever
 * letting a socket or a timer have its turn.
 */
function endpoint() {
  let turn = 0;
  const faults = [
    () => Promise.reject(new Error("connection reset")),
    () => new Promise(() => {}),
    () => "<html>",
    () => JSON.stringify({ id: null, error: { code: 429, message: "too many requests" } }),
    (body) => answer(body, { chainId: 1 }),
    () => " ".repeat(300_000),
    () => JSON.stringify({ id: 1, error: { code: -32000, message: "something new" } }),
  ];
  return async (body) => {
    turn += 1;
    const [fails, number] = [faulty && turn % 9 === 0, turn / 9];
    await nextTurn();
    return fails ? faults[number % faults.length](body) : answer(body);
  };
}

/** Real sockets: every ninth answer is an error, or a connection that breaks. */
async function startServer() {
  let turn = 0;
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    turn += 1;
    if (faulty && turn % 18 === 0) return response.destroy();
    response.writeHead(faulty && turn % 9 === 0 ? 502 : 200, { "content-type": "application/json" });
    response.end(answer(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Every seventh is given up at once or a little later; a seventh brings a signal that never fires. */
async function selectOnce(number) {
  const turn = number % 7;
  const aborting = turn === 0 ? AbortSignal.timeout(number % 3) : undefined;
  try {
    await selector.select(input, { signal: aborting ?? (turn === 1 ? signal : undefined) });
    return "selected";
  } catch (error) {
    return aborting?.aborted ? "given up" : error.code;
  }
}

async function selections(count) {
  const ends = {};
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      const end = await selectOnce(next);
      ends[end] = (ends[end] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return ends;
}

/** Sees the module's memory, which has no public name, where it is made. */
async function watchMemory() {
  let found;
  const keep = (instance, module) => {
    // Node's HTTP client is a module too.
    if (WebAssembly.Module.customSections(module, seal).length === 0) return;
    found = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory);
  };
  for (const name of ["instantiate", "instantiateStreaming"]) {
    const original = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      const made = await original(...args);
      keep(made.instance ?? made, made.module ?? args[0]);
      return made;
    };
  }
  const Instance = WebAssembly.Instance;
  WebAssembly.Instance = function (...args) {
    const instance = new Instance(...args);
    keep(instance, args[0]);
    return instance;
  };
  return () => found?.buffer.byteLength ?? 0;
}

const MB = 1024 * 1024;

async function held(name) {
  await sleep(500);
  globalThis.gc();
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const resources = process.getActiveResourcesInfo();
  const timers = resources.filter((resource) => resource === "Timeout").length;
  const listeners = getEventListeners(signal, "abort").length;
  const row = { name, rss: rss / MB, heap: (heapUsed + external) / MB, wasm: memory() / MB, resources: resources.length, timers, listeners };
  console.log(
    `${name.padEnd(20)} RSS ${row.rss.toFixed(1)} MB, heap ${row.heap.toFixed(1)} MB, wasm ${row.wasm.toFixed(2)} MB, ` +
      `${row.resources} resources, ${timers} timers, ${listeners} listeners`,
  );
  return row;
}

const began = performance.now();
await held("before");
await selections(WARM);
const warm = await held("warm");
const ends = await selections(SELECTIONS - WARM);
const late = await held("with the last fault");
faulty = false;
await sleep(1_000);
let rounds = 0;
const isWell = ({ circuit, successRate }) => circuit === "closed" && successRate >= 0.99;
do {
  rounds += 1;
  await selections(CALM);
} while (rounds < ROUNDS && !selector.health().every(isWell));
const end = await held("after a calm second");
console.log(`${SELECTIONS} selections in ${((performance.now() - began) / 1_000).toFixed(0)} s, without the first ${WARM}:`, ends);
for (const { endpoint, circuit, successRate, score } of selector.health()) {
  console.log(`${endpoint}: ${circuit}, success ${successRate}, score ${score} after ${rounds * CALM} good answers`);
}
assert.ok(selector.health().length === 4 && selector.health().every(isWell), "scores come back");
assert.ok(memory() > 0, "the module's memory was seen");
assert.ok(end.wasm <= warm.wasm + MODULE_NOISE_MB, "the module's memory does not grow");
assert.ok(late.heap < warm.heap + NOISE_MB && end.heap < warm.heap + NOISE_MB, "the heap does not grow");
assert.ok(end.rss < warm.rss + 3 * NOISE_MB, "the process does not grow");
assert.ok(end.timers <= warm.timers, "no timer is left");
assert.equal(end.listeners, 0, "no listener is left");
selector.free();
server.closeAllConnections();
server.close();
await once(server, "close");
await sleep(100);
const left = process.getActiveResourcesInfo().filter((resource) => !["TTYWrap", "PipeWrap", "Timeout"].includes(resource));
assert.deepEqual(left, [], "no handle is left");
