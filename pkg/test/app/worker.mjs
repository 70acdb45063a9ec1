import { createSelector } from "payroute";

const OWNER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const asset = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const extra = { name: "USD Coin", version: "2" };
const offer = { scheme: "exact", network: "base", amount: "1", asset, payTo: OWNER, maxTimeoutSeconds: 60, extra };

/** What a selection comes to before the first event, when a worker has neither timers nor a network. */
const early = await createSelector({ owners: { eip155: OWNER }, networks: { base: { rpc: ["https://rpc.example/"] } } })
  .then((selector) => selector.select({ x402Version: 2, accepts: [offer] }))
  .catch((error) => error.code ?? String(error));

export default {
  async fetch(request) {
    const { config, paymentRequired } = await request.json();
    try {
      const selector = await createSelector(config);
      const { requirement, candidates } = await selector.select(paymentRequired);
      return Response.json({ same: requirement === paymentRequired.accepts[0], balance: candidates[0].balance, early });
    } catch (error) {
      return Response.json({ error: String(error), code: error.code, explanation: error.explain?.() }, { status: 500 });
    }
  },
};
