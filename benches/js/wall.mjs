// Wall time of a whole selection in Node, in one run beside the same requests by fetch alone and
// beside viem, which reads less: no proof of the chain in the balance's own answer, no signing domain,
// no pause, no block list. Each round does every subject once, in an order that turns. Traffic is that of
// one selection: requests, and bytes of bodies without heads, which are the host's.

import { floor, paymentRequired, payroute, unread, viem } from "./subjects.mjs";
import { median, row, time } from "./figures.mjs";
import { serve } from "./nodes.mjs";

const FIRST_CHAIN = 900_001;
const SHAPES = [[1, 1], [1, 16], [2, 2], [2, 16], [4, 4], [4, 16], [8, 8], [8, 16]];
/** Injected delay in milliseconds, and rounds: as many as fit two minutes in all. */
const DELAYS = [[0, 200], [20, 60], [50, 40], [200, 12]];
const WARM_UPS = 20;
/** What a selection may take: this times the floor and `MOST_MS` with a delay; `NO_DELAY_MS` over it without. */
const MOST_RATIO = 1.02;
const MOST_MS = 1;
const NO_DELAY_MS = 2;

let onTarget = 0;
let ahead = 0;
for (const [delay, rounds] of DELAYS) {
  for (const [networks, offers] of SHAPES) await measure(networks, offers, delay, rounds);
}
await measureUnread();
const rows = DELAYS.length * SHAPES.length;
console.log(`Node: ${onTarget} of ${rows} rows on target, ahead of viem with batching in ${ahead}`);

async function measure(networks, offers, delay, rounds) {
  const { document, endpoints, server } = await world(networks, offers, delay);
  const select = await payroute(endpoints, document);
  await select();
  const subjects = {
    payroute: select,
    floor: floor(server.nodes, await server.lastBodies()),
    batched: viem(endpoints, document, { batch: true }),
    unbatched: viem(endpoints, document, { batch: false }),
  };
  const traffic = await trafficOf(server, subjects);
  const figures = await compare(subjects, delay, rounds);
  await server.close();
  report({ networks, offers, delay, figures, traffic });
}

/** The most offers beside a choice that reads nothing. It waits for nobody, so no delay tells more than none. */
async function measureUnread() {
  const [networks, offers] = SHAPES.at(-1);
  const [delay, rounds] = DELAYS[0];
  const { document, endpoints, server } = await world(networks, offers, delay);
  const subjects = { payroute: await payroute(endpoints, document), unread: unread(document) };
  const figures = await compare(subjects, delay, rounds);
  await server.close();
  const what = `Node selection beside choosing unread: ${networks} networks, ${offers} offers, ${delay} ms`;
  const [wall, beside] = [figures.payroute, figures.unread];
  row(what, `${wall.toFixed(2)} ms`, `@x402/core's choice ${beside.toFixed(3)} ms`, wall / beside, "it reads nothing");
}

async function world(networks, offers, delay) {
  const chains = Array.from({ length: networks }, (_, index) => FIRST_CHAIN + index);
  const server = await serve(chains, { delay });
  const endpoints = server.nodes.map(({ chain, url }) => ({ chain, urls: [url] }));
  return { document: paymentRequired(chains, offers), endpoints, server };
}

async function trafficOf(server, subjects) {
  const traffic = {};
  for (const [name, work] of Object.entries(subjects)) {
    const before = await server.traffic();
    await work();
    const after = await server.traffic();
    const of = (count) => after[count] - before[count];
    traffic[name] = `${of("requests")} requests, ${of("sent")} B out, ${of("received")} B in`;
  }
  return traffic;
}

async function compare(subjects, delay, rounds) {
  const entries = Object.entries(subjects);
  const warmUps = delay === 0 ? WARM_UPS * 5 : WARM_UPS;
  for (let round = 0; round < warmUps; round++) for (const [, work] of entries) await work();
  const walls = new Map(entries.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < entries.length; turn++) {
      const [name, work] = entries[(round + turn) % entries.length];
      walls.get(name).push(await time(work));
    }
  }
  return Object.fromEntries(entries.map(([name]) => [name, median(walls.get(name))]));
}

function report({ networks, offers, delay, figures, traffic }) {
  const { payroute: wall, floor: least, batched, unbatched } = figures;
  onTarget += wall <= (delay === 0 ? least + NO_DELAY_MS : MOST_RATIO * least + MOST_MS) ? 1 : 0;
  ahead += wall < batched ? 1 : 0;
  const what = `Node selection: ${networks} networks, ${offers} offers, ${delay} ms`;
  const batching = `viem batched ${batched.toFixed(2)} ms, ${traffic.batched}`;
  const alone = `viem each call alone ${unbatched.toFixed(2)} ms, ${traffic.unbatched}`;
  const remark = `${traffic.payroute}; ${batching}; ${alone}; bytes of bodies alone`;
  row(what, `${wall.toFixed(2)} ms`, `${least.toFixed(2)} ms, the same POSTs`, wall / least, remark);
}
