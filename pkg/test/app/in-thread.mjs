import { createSelector } from "payroute";

async function run() {
  const { config, paymentRequired } = await (await fetch("/setup.json")).json();
  const selector = await createSelector(config);
  const { candidates } = await selector.select(paymentRequired);
  return candidates[0].balance;
}

run().catch(String).then((said) => postMessage(said));
