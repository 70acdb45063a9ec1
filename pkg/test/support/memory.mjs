// Run by a test in a process of its own, as `node --expose-gc`: the test runner follows every async
// resource and would be measured too. Prints by how many bytes a selection the memory grew, at the least.

import { setTimeout as sleep } from "node:timers/promises";
import { createSelector } from "payroute";
import { evmOffer, onBase, v2 } from "./offers.mjs";
import { startProgram } from "./program.mjs";

// A process of its own: its memory is not what is measured.
const { ready, stop } = await startProgram("faults/start.mjs");
const { rpc } = ready.cases.find(({ id }) => id === "healthy/evm/1");
const selector = await createSelector({ ...onBase(...rpc), routing: { probeTimeoutMs: 30_000 } });
const input = v2(evmOffer());

/** Growth in bytes a selection that needs no second look. */
const ENOUGH = 150;
const ROUND = 1_000;
const ROUNDS = 3;

async function round() {
  const selections = await Promise.all(Array.from({ length: ROUND }, () => selector.select(input)));
  if (!selections.every(({ candidates }) => candidates[0].balance === "60000")) throw new Error("not all settled well");
}

async function used() {
  await sleep(50);
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Memory in use after some rounds more. */
async function cycle() {
  for (let count = 0; count < ROUNDS; count++) await round();
  return used();
}

await cycle();
const before = await cycle();
// A leak grows with every cycle. Tables of the runtime double now and then, by megabytes, and stay.
let grown = Infinity;
for (let cycles = 1; cycles <= 8 && grown > ENOUGH; cycles++) {
  grown = Math.min(grown, ((await cycle()) - before) / (cycles * ROUNDS * ROUND));
}
console.log(grown);
selector.free();
await stop();
