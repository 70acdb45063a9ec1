// CPU time in Node: ranking through WebAssembly, decoding, and, as the floor of all choosing, what
// `@x402/core` does, which reads nothing: it takes the first offer that a registered scheme can pay.

import { parsePaymentRequired, rank } from "payroute";
import { MERCHANT, paymentRequired, payroute, unread } from "./subjects.mjs";
import { median, row } from "./figures.mjs";
import { serve } from "./nodes.mjs";

const CHAINS = [8453, 84532, 137, 42161];
const SAMPLES = 60;
const SAMPLE_MS = 4;

/** Microseconds of one call: the median of samples of a few milliseconds each. */
async function micros(work) {
  let calls = 1;
  for (let wall = 0; wall < SAMPLE_MS; calls *= 2) {
    const started = performance.now();
    for (let call = 0; call < calls; call++) await work();
    wall = performance.now() - started;
  }
  const samples = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const started = performance.now();
    for (let call = 0; call < calls; call++) await work();
    samples.push(((performance.now() - started) * 1_000) / calls);
  }
  return median(samples);
}

/** Candidates as a selection gives them. */
async function selected(count) {
  const server = await serve([900_001, 900_002]);
  const networks = server.nodes.map(({ chain, url }) => ({ chain, urls: [url] }));
  const { candidates } = await (await payroute(networks, paymentRequired([900_001, 900_002], count)))();
  await server.close();
  return candidates;
}

/** Candidates that no selection knows, of many offers. */
async function candidates(count) {
  const of = await selected(Math.min(count, 64));
  return Array.from({ length: count }, (_, index) => ({ ...of[index % of.length], requirementIndex: index }));
}

/** Microseconds that ranking a selection's own 32 candidates again may take. */
const MOST_OWN = 10;
{
  const own = await selected(32);
  const ours = await micros(() => rank(own, { preferNetworks: ["base"] }));
  row("Node rank: 32 candidates of a selection", `${ours.toFixed(1)} µs`, `target ${MOST_OWN} µs`, ours / MOST_OWN, "only the order crosses");
}

for (const count of [2, 8, 32, 256, 1_024]) {
  const list = await candidates(count);
  const ours = await micros(() => rank(list, { preferNetworks: ["base"] }));
  const theirs = await micros(unread(paymentRequired(CHAINS, count)));
  row(`Node rank: ${count} candidates`, `${ours.toFixed(1)} µs`, `@x402/core's choice ${theirs.toFixed(1)} µs`, ours / theirs, "objects in, objects out");
}

for (const count of [1, 8, 64]) {
  const text = JSON.stringify({ ...paymentRequired(CHAINS, count), resource: { url: `https://shop.example/${MERCHANT}` } });
  const ours = await micros(() => parsePaymentRequired(text));
  const theirs = await micros(() => JSON.parse(text));
  row(`Node decode: ${count} offers`, `${ours.toFixed(1)} µs`, `JSON.parse ${theirs.toFixed(1)} µs`, ours / theirs);
}
