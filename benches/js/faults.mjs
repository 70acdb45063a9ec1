// What one bad provider costs in Node, payroute beside viem's fallback with the same 600 ms: the
// first in the list is dead, hangs, is slow or serves another chain; the second answers after 50 ms.

import { once } from "node:events";
import { createServer } from "node:net";
import { paymentRequired, payroute, viem } from "./subjects.mjs";
import { median, row, time } from "./figures.mjs";
import { serve } from "./nodes.mjs";

const CHAIN = 900_001;
const DELAY = 50;
const LATER = 9;

const dead = createServer().listen(0, "127.0.0.1");
await once(dead, "listening");
const deadUrl = `http://127.0.0.1:${dead.address().port}/`;
dead.close();
await once(dead, "close");

const bad = {
  dead: async () => ({ url: deadUrl, close: async () => {} }),
  hanging: async () => alone(await serve([CHAIN], { conduct: "hangs" })),
  "slow, 300 ms": async () => alone(await serve([CHAIN], { delay: 300 })),
  "of another chain": async () => alone(await serve([CHAIN + 1], { delay: DELAY })),
};

for (const [name, start] of Object.entries(bad)) {
  const [first, second] = [await start(), alone(await serve([CHAIN], { delay: DELAY }))];
  const networks = [{ chain: CHAIN, urls: [first.url, second.url] }];
  const document = paymentRequired([CHAIN], 1);
  const ours = await story(await payroute(networks, document));
  const theirs = await story(viem(networks, document, { batch: true }));
  const what = (which) => `Node selection: first provider ${name}, second 50 ms; ${which}`;
  row(what("the first"), ours.first, `viem ${theirs.first}`);
  row(what("those after"), ours.later, `viem ${theirs.later}`);
  await Promise.all([first.close(), second.close()]);
}

function alone(server) {
  return { url: server.nodes[0].url, close: server.close };
}

async function story(work) {
  const outcome = async () => {
    let chosen;
    const wall = await time(async () => (chosen = await work().catch(() => undefined)));
    return { wall, chosen: chosen !== undefined };
  };
  const first = await outcome();
  const later = [];
  for (let round = 0; round < LATER; round++) later.push(await outcome());
  const text = ({ wall, chosen }) => `${wall.toFixed(0)} ms${chosen ? "" : ", nothing chosen"}`;
  return { first: text(first), later: text({ wall: median(later.map(({ wall }) => wall)), chosen: later.every(({ chosen }) => chosen) }) };
}
