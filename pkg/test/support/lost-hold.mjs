// Run by a test in a process of its own, as `node --expose-gc`. Prints what is available while a hold
// lives, and after it was lost.

import { setTimeout as sleep } from "node:timers/promises";
import { createSelector } from "payroute";
import { answer } from "./chain.mjs";
import { evmOffer, onBase, v2 } from "./offers.mjs";

const selector = await createSelector(onBase((body) => answer(body, { balance: 90_000n })));

async function available() {
  const select = selector.select(v2(evmOffer(undefined, "1000000")));
  return select.then(() => "all of it", (error) => error.deficits[0].available);
}

async function pay() {
  const hold = (await selector.select(v2(evmOffer()))).hold();
  const seen = await available();
  // Used after the look, or it might be gone already.
  return hold === undefined ? "no hold" : seen;
}

const before = await pay();
let after = before;
// The collector comes when it likes; a hold that never went would show as the same figure twice.
for (let round = 0; round < 200 && after === before; round++) {
  globalThis.gc();
  await sleep(10);
  after = await available();
}
console.log(before, after);
