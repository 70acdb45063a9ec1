// Run by a test in a process of its own, as `node --expose-gc`: the test runner follows every async
// resource and would be measured too. Prints the least growth in bytes over 3,000
// selections or more.

import { setTimeout as sleep } from "node:timers/promises";
import { createSelector } from "payroute";
import { evmOffer, onBase, v2 } from "./offers.mjs";
import { startProgram } from "./program.mjs";

// A process of its own: its memory is not what is measured.
const { ready, stop } = await startProgram("faults/start.mjs");
const { rpc } = ready.cases.find(({ id }) => id === "healthy/evm/1");
const selector = await createSelector({ ...onBase(...rpc), routing: { probeTimeoutMs: 30_000 } });
const input = v2(evmOffer());

/** Growth in bytes that needs no second look. */
const ENOUGH = 1_000_000;

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
// A leak grows with every cycle; what connections hold goes up and down.
let grown = Infinity;
for (let count = 0; count < 4 && grown > ENOUGH; count++) grown = Math.min(grown, (await cycle()) - before);
console.log(grown);
selector.free();
await stop();
