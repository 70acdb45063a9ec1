// Run by a test in a process of its own, as `node --expose-gc`: the test runner follows every async
// resource and would be measured too. Prints by how many bytes a selection the memory grew, at the least: of
// selections that go well, or, as `memory.mjs never-answers`, of those that a `fetch` without an end keeps waiting.

import { setTimeout as sleep } from "node:timers/promises";
import { createSelector } from "payroute";
import { evmOffer, onBase, v2 } from "./offers.mjs";
import { startProgram } from "./program.mjs";

const WORLDS = {
  async healthy() {
    // A process of its own: its memory is not what is measured.
    const { ready, stop } = await startProgram("faults/start.mjs");
    const { rpc } = ready.cases.find(({ id }) => id === "healthy/evm/1");
    return { rpc, timeout: 30_000, balance: "60000", stop };
  },
  "never-answers": async () => {
    globalThis.fetch = () => new Promise(() => {});
    return { rpc: ["https://rpc.example/"], timeout: 5, balance: undefined, stop: () => {} };
  },
};

const { rpc, timeout, balance, stop } = await WORLDS[process.argv[2] ?? "healthy"]();
const selector = await createSelector({ ...onBase(...rpc), routing: { probeTimeoutMs: timeout } });
const input = v2(evmOffer());

/** Growth in bytes a selection that needs no second look. */
const ENOUGH = 150;
const ROUND = 1_000;
const ROUNDS = 3;

async function round() {
  const selected = () => selector.select(input).catch((error) => error);
  const selections = await Promise.all(Array.from({ length: ROUND }, selected));
  if (!selections.every(({ candidates }) => candidates?.[0].balance === balance)) throw new Error("not all settled as they should");
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
