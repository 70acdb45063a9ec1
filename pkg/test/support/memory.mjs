// Run by a test in a process of its own, as `node --expose-gc`: the test runner follows every async
// resource and would be measured too. Prints the growth in bytes over 3,000 selections.

import { setTimeout as sleep } from "node:timers/promises";
import { createSelector } from "payroute";
import { openEndpoint } from "../../../tests/faults/server.mjs";
import { evmOffer, onBase, v2 } from "./offers.mjs";

const server = await openEndpoint();
const selector = await createSelector({ ...onBase(server.url), routing: { probeTimeoutMs: 30_000 } });
const input = v2(evmOffer());

async function round() {
  const selections = await Promise.all(Array.from({ length: 1_000 }, () => selector.select(input)));
  if (!selections.every(({ candidates }) => candidates[0].balance === "60000")) throw new Error("not all settled well");
}

async function used() {
  await sleep(50);
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Memory in use after 3,000 selections. */
async function cycle() {
  for (let count = 0; count < 3; count++) await round();
  return used();
}

await cycle();
const before = await cycle();
console.log((await cycle()) - before);
selector.free();
await server.stop();
