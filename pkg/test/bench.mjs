// What a selection costs beyond its slowest request: `npm run bench`. The requests are the same ones
// that the selection makes, repeated with fetch alone in turn with selections, on loopback.

import { createServer } from "node:http";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createSelector } from "payroute";
import { answer } from "./support/chain.mjs";
import { OWNER, USDC, BASE, evmOffer, v2 } from "./support/offers.mjs";

/** The most that a selection may cost beyond its slowest request, in milliseconds. */
const BUDGET_MS = 1;
const ROUNDS = 400;
const NETWORKS = ["eip155:8453", "eip155:84532", "eip155:137", "eip155:42161"];

async function endpoint(chainId, delay, seen) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.body = body;
    if (delay > 0) await sleep(delay);
    response.end(answer(body, { chainId }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

async function plainFetch({ url }, body) {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const reader = response.body.getReader();
  while (!(await reader.read()).done);
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

async function time(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

let worst = 0;
for (const delay of [0, 50]) {
  for (const count of [1, 2, 4]) {
    const seen = NETWORKS.slice(0, count).map(() => ({}));
    const endpoints = await Promise.all(seen.map((one, index) => endpoint(Number(NETWORKS[index].split(":")[1]), delay, one)));
    const asset = { address: USDC[BASE], symbol: "USDC", decimals: 6, name: "USD Coin", version: "2" };
    const networks = Object.fromEntries(endpoints.map(({ url }, index) => [NETWORKS[index], { rpc: [url], assets: [asset] }]));
    const selector = await createSelector({ owners: { eip155: OWNER }, networks });
    const input = v2(...endpoints.map((_, index) => ({ ...evmOffer(), network: NETWORKS[index] })));
    const select = () => selector.select(input);
    const slowest = () => Promise.all(endpoints.map((one, index) => plainFetch(one, seen[index].body)));
    for (let warmUp = 0; warmUp < 50; warmUp++) await select();
    for (let warmUp = 0; warmUp < 50; warmUp++) await slowest();
    const [selections, requests] = [[], []];
    for (let round = 0; round < (delay > 0 ? ROUNDS / 8 : ROUNDS); round++) {
      selections.push(await time(select));
      requests.push(await time(slowest));
    }
    const [a, b] = [median(selections), median(requests)];
    worst = Math.max(worst, a - b);
    console.log(`${count} networks, ${String(delay).padStart(2)} ms delay: selection ${a.toFixed(2)} ms, the same requests ${b.toFixed(2)} ms, difference ${(a - b).toFixed(2)} ms`);
    for (const one of endpoints) one.close();
  }
}
console.log(`worst difference ${worst.toFixed(2)} ms of at most ${BUDGET_MS}`);
process.exit(worst > BUDGET_MS ? 1 : 0);
