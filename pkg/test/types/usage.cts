// The same names, and types, by require.

import payroute = require("payroute");

export async function use(config: payroute.Config): Promise<string | undefined> {
  const selector = await payroute.createSelector(config);
  const { candidates } = await selector.select("eyJ9");
  return candidates[0]?.assetId;
}

import x402 = require("payroute/x402");

export function pays<Client extends x402.PayingClient>(client: Client, selector: payroute.Selector): Client {
  return x402.routed(client, selector);
}
